import { DartError } from '../errors.ts';

export interface PolicySpec {
  /** `onnx`, `script`, `random`, … */
  kind: string;
  /** What follows the first colon: a path, a list of URLs; for `script` its options. */
  rest: string;
}

/** `onnx:PATH` → kind `onnx`, rest `PATH`. */
export function splitPolicySpec(spec: string): PolicySpec {
  const colon = spec.indexOf(':');
  if (colon < 0) return { kind: spec, rest: '' };
  return { kind: spec.slice(0, colon), rest: spec.slice(colon + 1) };
}

/** The `noise=P` of `script:noise=P`. Throws a DartError on other words and on numbers outside 0..1. */
export function scriptNoise(rest: string): number {
  if (rest === '') return 0;
  const noise = /^noise=(\d*\.?\d+)$/.exec(rest);
  const value = noise ? Number(noise[1]) : Number.NaN;
  if (!(value >= 0 && value <= 1)) {
    throw new DartError(`cannot read the policy "script:${rest}"`, { where: '--policy', hint: 'script:noise=0.2' });
  }
  return value;
}
