import ort from 'onnxruntime-node';
import type { Plain } from './plain.testing.ts';
import { plain } from './plain.testing.ts';
import type { DType, Graph } from './types.ts';
import { writeOnnx } from './write.ts';

function tensorOf(dtype: DType | null, { shape, data }: Plain): ort.Tensor {
  if (dtype === 'int64') return new ort.Tensor('int64', BigInt64Array.from(data, BigInt), shape);
  if (dtype === 'int32') return new ort.Tensor('int32', Int32Array.from(data), shape);
  if (dtype === 'bool') return new ort.Tensor('bool', Uint8Array.from(data), shape);
  return new ort.Tensor('float32', Float32Array.from(data), shape);
}

/** Runs a graph in onnxruntime, by way of the bytes of its file. */
export async function runOnnx(graph: Graph, feeds: ReadonlyMap<string, Plain>): Promise<Map<string, Plain>> {
  const session = await ort.InferenceSession.create(writeOnnx(graph), { intraOpNumThreads: 1, logSeverityLevel: 4 });
  const given = Object.fromEntries(
    graph.inputs.map(({ name, dtype }) => {
      const value = feeds.get(name);
      if (!value) throw new Error(`nothing is given for ${name}`);
      return [name, tensorOf(dtype, value)];
    }),
  );
  const results = await session.run(given);
  await session.release();
  return new Map(
    Object.entries(results).map(([name, value]) => [
      name,
      plain([...value.dims], Array.from(value.data as ArrayLike<number | bigint>, Number)),
    ]),
  );
}
