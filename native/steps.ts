import { native } from './addon.ts';
import { checkArray, checkFinite, checkIndices, checkOffsets, checkOptionalArray } from './arrays.ts';
import { checkInteger, checkNumber, checkOptions, refuse } from './check.ts';
import { type Device, placeOf } from './device.ts';

export interface StepEntropyInput {
  /** Of all tokens of all steps, one after the other. */
  tokenEntropy: Float32Array;
  /** 0: not a reply token. */
  mask?: Uint8Array | null;
  /** [steps + 1], from 0 to the number of tokens. */
  stepOffsets: Int32Array;
  device?: Device;
}

const ENTROPY_OPTIONS: Record<keyof StepEntropyInput, true> = {
  tokenEntropy: true,
  mask: true,
  stepOffsets: true,
  device: true,
};

/** H of each step: mean entropy over its unmasked tokens; NaN for a step without any. */
export function stepEntropy(input: StepEntropyInput): Float64Array {
  checkOptions(input, 'the input of stepEntropy', ENTROPY_OPTIONS);
  const tokenEntropy = checkArray(input.tokenEntropy, 'tokenEntropy', 'Float32Array');
  const mask = checkOptionalArray(input.mask, 'mask', 'Uint8Array', tokenEntropy.length);
  const steps = checkOffsets(input.stepOffsets, 'stepOffsets', tokenEntropy.length);
  checkFinite(tokenEntropy, 'tokenEntropy', (i) => mask?.[i] !== 0);
  const result = new Float64Array(steps);
  const { stepOffsets, device } = input;
  native().addon.stepEntropy({ tokenEntropy, mask, stepOffsets, steps, result, ...placeOf(device) });
  return result;
}

export interface SelectStepsInput {
  /** [steps]; NaN is never selected and does not count. */
  stepEntropy: Float64Array;
  /** [steps], 0 .. groups - 1. */
  stepGroup: Int32Array;
  groups: number;
  /** Share kept, 0..1: steps at or above the (1 - keep) quantile of their group (linear interpolation, ties kept). */
  keep: number;
  device?: Device;
}

export interface SelectedSteps {
  /** [steps], 1 = selected. */
  selected: Uint8Array;
  /** [groups]; NaN for a group without steps. */
  threshold: Float64Array;
}

const SELECT_OPTIONS: Record<keyof SelectStepsInput, true> = {
  stepEntropy: true,
  stepGroup: true,
  groups: true,
  keep: true,
  device: true,
};

/** High-entropy step selection (design §9), whatever the micro-batches: a whole group is chosen from at once. */
export function selectSteps(input: SelectStepsInput): SelectedSteps {
  checkOptions(input, 'the input of selectSteps', SELECT_OPTIONS);
  const groups = checkInteger(input.groups, 'groups', 0);
  const keep = checkNumber(input.keep, 'keep', 0, 1);
  const stepGroup = checkIndices(input.stepGroup, 'stepGroup', groups);
  const steps = stepGroup.length;
  const entropy = checkArray(input.stepEntropy, 'stepEntropy', 'Float64Array', steps);
  const infinite = entropy.findIndex((h) => Math.abs(h) === Infinity);
  if (infinite >= 0) refuse('a finite number, or NaN', `stepEntropy[${infinite}]`, entropy[infinite]);
  const out = { selected: new Uint8Array(steps), threshold: new Float64Array(groups) };
  native().addon.selectSteps({
    ...out,
    stepEntropy: entropy,
    stepGroup,
    steps,
    groups,
    keep,
    ...placeOf(input.device),
  });
  return out;
}
