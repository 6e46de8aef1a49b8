import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { DartError, messageOf } from '../../errors.ts';
import type { Graph } from '../../graph/types.ts';
import { writeOnnx } from '../../graph/write.ts';

export type Feeds = Record<string, OrtTensor>;

interface Runtime {
  InferenceSession: typeof InferenceSession;
  Tensor: typeof OrtTensor;
}

let runtime: Runtime | null = null;

/** onnxruntime is loaded when it is first needed, not by every command's `--help`. */
export async function loadRuntime(): Promise<Runtime> {
  if (!runtime) {
    // It would keep a database, a log and a device number for Microsoft's telemetry; read when it is loaded.
    process.env.ORT_DISABLE_TELEMETRY ??= '1';
    const module = await import('onnxruntime-node');
    const { InferenceSession, Tensor } = ('default' in module ? module.default : module) as Runtime;
    runtime = { InferenceSession, Tensor };
  }
  return runtime;
}

/** A tensor over existing data; the runtime must be loaded. */
export function tensor(
  dtype: 'float32' | 'int32' | 'uint8',
  data: Float32Array | Int32Array | Uint8Array,
  dims: number[],
): OrtTensor {
  if (!runtime) throw new TypeError('onnxruntime is not loaded');
  return new runtime.Tensor(dtype as 'float32', data as Float32Array, dims);
}

export interface SessionOptions {
  threads: number;
  /** File or purpose, for messages. */
  where: string;
}

/**
 * A graph made ready to run. Sequential, `threads` threads inside operators. Memory patterns are off: shapes change from
 * run to run. Results come in tensors of their own unless `fetches` holds tensors to fill.
 * @throws DartError where onnxruntime refuses the graph
 */
export async function openSession(model: Graph | Uint8Array, options: SessionOptions): Promise<InferenceSession> {
  const { InferenceSession } = await loadRuntime();
  const bytes = model instanceof Uint8Array ? model : writeOnnx(model);
  try {
    return await InferenceSession.create(bytes, {
      executionProviders: ['cpu'],
      intraOpNumThreads: options.threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      enableMemPattern: false,
      enableCpuMemArena: true,
      logSeverityLevel: 4,
      // Threads that spin take the core of the process next door.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
  } catch (cause) {
    throw new DartError(`onnxruntime cannot load the graph: ${messageOf(cause)}`, {
      where: options.where,
      hint: 'check that the file is an ONNX model with standard operators',
      cause,
    });
  }
}

/**
 * Runs a graph; `outputs` left out: all of them.
 * @throws DartError where onnxruntime cannot: inputs of other shapes or types than the graph takes
 */
export async function runSession(
  session: InferenceSession,
  feeds: Feeds,
  where: string,
  outputs: readonly string[] = session.outputNames,
): Promise<Feeds> {
  try {
    return (await session.run(feeds, [...outputs])) as Feeds;
  } catch (cause) {
    throw new DartError(`onnxruntime could not run the graph: ${messageOf(cause)}`, {
      where,
      hint: 'check the policy file against docs/policy-files.md',
      cause,
    });
  }
}

/** The rows of logits that a policy gave. Throws a DartError where they are not V wide. */
export function logitsOf(results: Feeds, width: number, where: string): Float32Array {
  const { dims, data } = results.logits!;
  if (dims.at(-1) === width && data instanceof Float32Array) return data;
  throw new DartError(`the policy gives rows of ${dims.at(-1)} logits, not ${width}`, {
    where,
    hint: 'a policy for the vocabulary of docs/policy-files.md',
  });
}
