import { type BenchMetric, medianSeconds } from '../lib/stream/bench.ts';
import { type AdamwTensor, adamw, type Logits, logpEntropy, policyLoss, setThreads, threads } from './index.ts';

/** Seconds that one call may be measured for. */
const BUDGET = 0.3;

/** Bytes read and written a second by a plain copy of one Float32Array of 64 MiB: what memory can do. */
async function copyBandwidth(): Promise<number> {
  const from = new Float32Array(1 << 24).fill(1);
  const to = new Float32Array(1 << 24);
  return (2 * from.byteLength) / (await medianSeconds(() => to.set(from), BUDGET));
}

/** Random-looking logits without -inf: multiples of 1/16 are exact in bf16. */
function makeLogits(kind: 'f32' | 'bf16', size: number): Logits {
  const values = Float32Array.from({ length: size }, (_, i) => (((i * 2_654_435_761) % 251) - 125) / 16);
  if (kind === 'f32') return values;
  return Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);
}

async function policyMetrics(
  kind: 'f32' | 'bf16',
  rows: number,
  vocabulary: number,
  copy: number,
): Promise<BenchMetric[]> {
  const logits = makeLogits(kind, rows * vocabulary);
  const target = Int32Array.from({ length: rows }, (_, row) => (row * 37) % vocabulary);
  const scale = new Float32Array(rows).fill(1 / rows);
  const oldLogp = new Float32Array(rows).fill(-5);
  const dlogits = logits.slice();
  const run = () =>
    policyLoss({ logits, vocabulary, target, scale, oldLogp, rolloutLogp: oldLogp, tis: { cap: 1 }, dlogits });
  const loss = await medianSeconds(run, BUDGET);
  const forward = await medianSeconds(() => logpEntropy({ logits, vocabulary, target }), BUDGET);
  const shape = `${kind}/V=${vocabulary}`;
  const rate = (bytes: number, time: number) => ({
    value: bytes / time / 1e9,
    unit: 'GB/s',
    against: 'copy',
    ratio: bytes / time / copy,
  });
  return [
    { name: `kernels/policy_loss/${shape}`, value: rows / loss, unit: 'tokens/s' },
    { name: `kernels/policy_loss/${shape}/bandwidth`, ...rate(2 * logits.byteLength, loss) },
    { name: `kernels/logp_entropy/${shape}`, value: rows / forward, unit: 'tokens/s' },
    { name: `kernels/logp_entropy/${shape}/bandwidth`, ...rate(logits.byteLength, forward) },
  ];
}

/** Four arrays read, three written. */
async function adamwMetric(size: number, copy: number): Promise<BenchMetric> {
  const filled = (value: number) => new Float32Array(size).fill(value);
  const tensor: AdamwTensor = {
    parameter: filled(1),
    gradient: filled(0.01),
    firstMoment: filled(0),
    secondMoment: filled(0),
  };
  const run = () => adamw({ tensors: [tensor], step: 10, learningRate: 1e-4, maxGradNorm: 1 });
  const time = await medianSeconds(run, BUDGET);
  const bytes = 8 * tensor.gradient.byteLength; /* the gradient is read twice: for the norm, for the update */
  return {
    name: `kernels/adamw/${size}`,
    value: bytes / time / 1e9,
    unit: 'GB/s',
    against: 'copy',
    ratio: bytes / time / copy,
  };
}

/**
 * Kernels on one thread of the CPU through the addon, at the embedded vocabulary and at that of Qwen2.5-VL-7B. Bandwidth counts logits read once and
 * dlogits written once, against a plain copy. Beside eager PyTorch, and on more threads: `make bench-kernels`.
 */
export async function bench(): Promise<BenchMetric[]> {
  const before = threads();
  setThreads(1);
  try {
    return await measure();
  } finally {
    setThreads(before);
  }
}

async function measure(): Promise<BenchMetric[]> {
  const copy = await copyBandwidth();
  return [
    { name: 'kernels/copy', value: copy / 1e9, unit: 'GB/s' },
    ...(await policyMetrics('f32', 4096, 400, copy)),
    ...(await policyMetrics('f32', 32, 152_064, copy)),
    ...(await policyMetrics('bf16', 32, 152_064, copy)),
    await adamwMetric(300_000, copy),
    await adamwMetric(8_000_000, copy),
  ];
}
