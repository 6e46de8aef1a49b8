import { existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { DartError } from '../errors.ts';
import type { Policy } from './policy.ts';
import type { ExpertSource } from './script.ts';
import { scriptNoise, splitPolicySpec } from './spec.ts';

export interface OpenPolicyOptions {
  /** Where `script` finds the experts of tasks; given by those rooms that know task files. */
  expert?: ExpertSource;
  /** Threads of one `onnx` worker. */
  threads?: number;
  /** Takes a line for people: an expert that gives up. */
  tell?: (line: string) => void;
}

const KINDS =
  'onnx:PATH, script, script:noise=P, random, replay:FILE, fixed:finished, fixed:fail, fixed:wait, openai:URL, sglang:URL, workload:FILE';

/**
 * Opens one policy (one worker) from its specification: `onnx:PATH`, `script`, `script:noise=0.2`, `random`,
 * `replay:FILE`, `fixed:finished`, `fixed:fail`, `fixed:wait`. Those behind servers are opened by `openServers`, as they
 * are many workers. What is heavy is loaded only when asked for.
 * @throws DartError that lists the known kinds, or names the missing file.
 */
export async function openPolicy(spec: string, options: OpenPolicyOptions = {}): Promise<Policy> {
  const { kind, rest } = splitPolicySpec(spec);
  switch (kind) {
    case 'onnx': {
      await mustExist(rest, spec);
      const { OnnxPolicy } = await import('./onnx.ts');
      return OnnxPolicy.open(rest, { threads: options.threads });
    }
    case 'script': {
      const noise = scriptNoise(rest);
      if (!options.expert) throw new DartError('no experts are at hand for the script policy', { where: '--policy' });
      const { ScriptPolicy } = await import('./script.ts');
      return new ScriptPolicy(options.expert, { noise, tell: options.tell });
    }
    case 'random': {
      const { RandomPolicy } = await import('./random.ts');
      return new RandomPolicy();
    }
    case 'replay': {
      await mustExist(rest, spec);
      const { ReplayPolicy } = await import('./replay.ts');
      return ReplayPolicy.open(rest);
    }
    case 'fixed': {
      const { FixedPolicy } = await import('./fixed.ts');
      return new FixedPolicy(rest);
    }
    default:
      throw unknown(spec);
  }
}

/** A path that does not say what is there gets an answer of its own: it is the commonest slip. */
function unknown(spec: string): DartError {
  if (spec.endsWith('.onnx') || existsSync(join(spec, 'policy.onnx'))) {
    const hint = `--policy onnx:${spec}`;
    return new DartError(`'${spec}' does not say which kind of policy it is`, { where: '--policy', hint });
  }
  return new DartError(`unknown policy "${spec}"`, { where: '--policy', hint: KINDS });
}

async function mustExist(path: string, spec: string): Promise<void> {
  if (path === '') throw new DartError(`the policy "${spec}" names no file`, { where: '--policy', hint: KINDS });
  try {
    await access(path);
  } catch (error) {
    throw new DartError('there is no such policy file', {
      where: path,
      hint: 'check the path after --policy',
      cause: error,
    });
  }
}
