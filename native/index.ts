/**
 * The native kernels' one typed face: fused policy loss, step selection, optimiser and preference losses on the CPU or a
 * GPU, and two system calls. Calls are synchronous; arrays are never kept. The C side is native/kernels/dart_kernels.h.
 */
export { type Device, type DeviceStatus, deviceStatus } from './device.ts';
export {
  type AdamwInput,
  type AdamwResult,
  type AdamwTensor,
  adamw,
  gradientNorm,
} from './optimizer.ts';
export {
  type ImportanceSampling,
  LOSS_KINDS,
  type Logits,
  type LogpEntropyInput,
  type LossKind,
  logpEntropy,
  type PolicyLossInput,
  type PolicyLossResult,
  policyLoss,
  type ReferenceKl,
} from './policy.ts';
export { flock, pollHangup } from './posix.ts';
export { type DpoInput, type DpoResult, dpo, type KtoInput, kto } from './preference.ts';
export { addStatistics, type PolicyStatistics, type PolicySummary, summarise } from './statistics.ts';
export { type SelectedSteps, type SelectStepsInput, type StepEntropyInput, selectSteps, stepEntropy } from './steps.ts';
