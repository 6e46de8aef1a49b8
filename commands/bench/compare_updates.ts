/**
 * compare_updates FOLDER: how far apart an update on the CPU (FOLDER/cpu, FOLDER/cpu.ndjson) and the same one on a GPU
 * (FOLDER/gpu, FOLDER/gpu.ndjson) are. `metric` records on stdout; exit code 1 when they differ by more than rounding explains.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError, messageOf } from '../../lib/errors.ts';
import { readSafetensors } from '../../lib/policy/network/safetensors.ts';

/** A loss is a sum of f32 roundings. */
const LOSS = 1e-5;
/** First moments are the gradient, times 1 - beta1: as share of its norm. */
const GRADIENT = 1e-5;
/**
 * AdamW's first step is the learning rate times the sign of each gradient, so an entry whose gradient is rounding alone may go
 * the other way: the distance over all weights, as share of how far they moved.
 */
const WEIGHTS = 0.005;

type Tensors = Map<string, Float32Array>;

function tensorsOf(path: string): Tensors {
  const { tensors } = readSafetensors(readFileSync(path), path);
  return new Map([...tensors].map(([name, { data }]) => [name, data]));
}

/** L2 norm of a - b over all tensors of `a`; of `a` alone without `b`. */
function distance(a: Tensors, b?: Tensors): number {
  let sum = 0;
  for (const [name, values] of a) {
    const others = b?.get(name);
    if (b !== undefined && others?.length !== values.length)
      throw new DartError(`the two updates have different tensors: ${name}`, { where: 'compare_updates' });
    values.forEach((value, i) => {
      sum += (value - (others?.[i] ?? 0)) ** 2;
    });
  }
  return Math.sqrt(sum);
}

/** The loss of the first update in a trainer's records. */
function lossOf(path: string): number {
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const record = JSON.parse(line);
    if (record.type === 'metric' && record.name === 'train/loss' && typeof record.value === 'number')
      return record.value;
  }
  throw new DartError('there was no update', { where: path, hint: 'more samples' });
}

function compare(folder: string): number {
  const file = (side: string, version: number, name: string) =>
    tensorsOf(join(folder, side, 'versions', String(version).padStart(6, '0'), `${name}.safetensors`));
  const [cpuLoss, gpuLoss] = [lossOf(join(folder, 'cpu.ndjson')), lossOf(join(folder, 'gpu.ndjson'))];
  const moments = file('cpu', 1, 'optimizer');
  const before = file('cpu', 0, 'weights');
  const after = file('cpu', 1, 'weights');
  const figures: [name: string, value: number, tolerance: number][] = [
    ['loss', Math.abs(cpuLoss - gpuLoss) / Math.max(1, Math.abs(cpuLoss)), LOSS],
    ['gradient', distance(moments, file('gpu', 1, 'optimizer')) / distance(moments), GRADIENT],
    ['weights', distance(after, file('gpu', 1, 'weights')) / distance(after, before), WEIGHTS],
  ];
  for (const [name, value, tolerance] of figures) {
    const record = { name: `dart-train update, cuda against cpu: ${name}`, value, unit: `(tolerance ${tolerance})` };
    process.stdout.write(`${JSON.stringify({ type: 'metric', v: 1, ...record })}\n`);
  }
  const missed = figures.filter(([, value, tolerance]) => !(value <= tolerance));
  for (const [name, value] of missed) process.stderr.write(`compare_updates: ${name} NOT OK: ${value}\n`);
  return missed.length === 0 ? 0 : 1;
}

try {
  process.exitCode = compare(process.argv[2] ?? '.');
} catch (error) {
  process.stderr.write(`compare_updates: ${messageOf(error)}\n`);
  process.exitCode = 2;
}
