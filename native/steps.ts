import { native } from './addon.ts';
import { checkIndices, checkInteger, checkNumber, checkOffsets, refuse } from './check.ts';
import type { Device } from './device.ts';

export interface StepEntropyInput {
  /** Of all tokens of all steps, one after the other. */
  tokenEntropy: Float32Array;
  /** 0: not a reply token. */
  mask?: Uint8Array | null;
  /** [steps + 1], from 0 to the number of tokens. */
  stepOffsets: Int32Array;
  device?: Device;
}

/** H of each step: mean entropy over its unmasked tokens; NaN for a step without any. */
export function stepEntropy(input: StepEntropyInput): Float64Array {
  const { addon, cudaLibrary } = native();
  if (!(input.tokenEntropy instanceof Float32Array)) refuse('Float32Array', 'tokenEntropy', input.tokenEntropy);
  const steps = checkOffsets(input.stepOffsets, 'stepOffsets', input.tokenEntropy.length);
  const result = new Float64Array(steps);
  addon.stepEntropy({ ...input, steps, stepEntropy: result, device: input.device ?? 'cpu', cudaLibrary });
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

/** High-entropy step selection (design §9), whatever the micro-batches: a whole group is chosen from at once. */
export function selectSteps(input: SelectStepsInput): SelectedSteps {
  const { addon, cudaLibrary } = native();
  const groups = checkInteger(input.groups, 'groups', 0);
  const keep = checkNumber(input.keep, 'keep', 0, 1);
  checkIndices(input.stepGroup, 'stepGroup', groups);
  const steps = input.stepGroup.length;
  const out = { selected: new Uint8Array(steps), threshold: new Float64Array(groups) };
  const { stepEntropy: entropy, stepGroup, device = 'cpu' } = input;
  addon.selectSteps({ ...out, stepEntropy: entropy, stepGroup, steps, groups, keep, device, cudaLibrary });
  return out;
}
