import { layerNorm } from '../../graph/functions.ts';
import type { Value } from '../../graph/value.ts';
import type { NetworkConfig } from './config.ts';

/** The network's weights inside a graph that is being built. */
export type Weights = (name: string) => Value;

export interface Net {
  config: NetworkConfig;
  weight: Weights;
}

/** Layer normalisation with the gain and bias of that name. */
export function normed(net: Net, x: Value, name: string): Value {
  return layerNorm(x, net.weight(`${name}.norm.gain`), net.weight(`${name}.norm.bias`));
}
