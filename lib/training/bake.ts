import { DartError } from '../errors.ts';
import { readOnnx } from '../graph/read.ts';
import { float32 } from '../graph/types.ts';
import { writeOnnx } from '../graph/write.ts';
import type { WeightTensor } from './model.ts';

/**
 * The policy file with other weights in it.
 * @param source Name of the policy file, for messages.
 * @param where Where the weights are from, for messages.
 * @throws DartError for a weight that the file does not have, or has in another shape.
 */
export function bakeWeights(
  policy: Uint8Array,
  weights: ReadonlyMap<string, WeightTensor>,
  { source, where }: { source: string; where: string },
): Uint8Array {
  const graph = readOnnx(policy, source);
  for (const [name, { shape, data }] of weights) {
    const present = graph.initializers.get(name);
    if (present?.dtype !== 'float32' || present.shape.join() !== shape.join()) {
      const has = present ? `[${present.shape.join(', ')}]` : 'nothing';
      throw new DartError(`'${name}' is [${shape.join(', ')}] here and ${has} in ${source}`, {
        where,
        hint: 'weights of the same network',
      });
    }
    graph.initializers.set(name, float32(data, [...shape]));
  }
  return writeOnnx(graph);
}
