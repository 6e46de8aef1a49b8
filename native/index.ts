/**
 * The native kernels' one typed face: fused policy loss, step selection, optimiser and preference losses on the CPU or a
 * GPU, and two system calls. Plain calls are synchronous and keep no array; the forms that end in Async run on a thread of
 * their own and hold their arrays until they are done. Arguments that do not fit are a TypeError that names them. The C
 * side is native/kernels/dart_kernels.h.
 */
export { type LibraryPaths, libraryPaths } from './addon.ts';
export { type Device, type DeviceStatus, deviceStatus, resolveDevice } from './device.ts';
export {
  type AdamwInput,
  type AdamwResult,
  type AdamwTensor,
  adamw,
  adamwAsync,
  gradientNorm,
} from './optimizer.ts';
export {
  type ImportanceSampling,
  LOSS_KINDS,
  type Logits,
  type LogpEntropyInput,
  type LossKind,
  logpEntropy,
  logpEntropyAsync,
  type PolicyLossInput,
  type PolicyLossResult,
  policyLoss,
  policyLossAsync,
  type ReferenceKl,
} from './policy.ts';
export { flock, pollHangup } from './posix.ts';
export type { HalfPrecision } from './precision.ts';
export { type DpoInput, type DpoResult, dpo, type KtoInput, kto } from './preference.ts';
export { INSTRUCTIONS, type Instructions, instructions, setInstructions, setThreads, threads } from './settings.ts';
export { addStatistics, type PolicyStatistics, type PolicySummary, summarise } from './statistics.ts';
export { type SelectedSteps, type SelectStepsInput, type StepEntropyInput, selectSteps, stepEntropy } from './steps.ts';
