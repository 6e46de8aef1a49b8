import { elementCount } from '../../graph/types.ts';
import { Random } from '../../stream/random.ts';
import type { NetworkConfig } from './config.ts';
import { CELL, gridOf, prefixLength } from './config.ts';
import { WORD_CHARACTERS } from './features.ts';
import { TOKEN, WORD_TOKENS } from './tokens.ts';

export interface WeightTensor {
  shape: number[];
  data: Float32Array;
}

/** Standard deviation of a normal distribution, or one constant for all elements. */
type Start = { deviation: number } | { value: number };

export interface WeightSpec {
  shape: number[];
  start: Start;
}

/** Inputs of a matrix that adds to a residual stream start small, so that a fresh network is close to the identity. */
const matrix = (inputs: number, outputs: number, gain = 1): WeightSpec => ({
  shape: [inputs, outputs],
  start: { deviation: gain / Math.sqrt(inputs) },
});
const table = (rows: number, width: number, deviation: number): WeightSpec => ({
  shape: [rows, width],
  start: { deviation },
});
const vector = (width: number, value = 0): WeightSpec => ({ shape: [width], start: { value } });

function visionSpecs(config: NetworkConfig): [string, WeightSpec][] {
  const { rows, columns } = gridOf(config);
  const width = config.cellWidth;
  return [
    ['vision.patch.weight', matrix(CELL * CELL * 3, width, 1.5)],
    ['vision.patch.bias', vector(width)],
    ['vision.row', table(rows, width, 0.3)],
    ['vision.column', table(columns, width, 0.3)],
    ...config.vision.flatMap((offsets, i): [string, WeightSpec][] => [
      [
        `vision.${i}.weight`,
        { shape: [offsets.length, width, width], start: { deviation: 1 / Math.sqrt(offsets.length * width) } },
      ],
      [`vision.${i}.bias`, vector(width)],
    ]),
    ['vision.norm.gain', vector(width, 1)],
    ['vision.norm.bias', vector(width)],
  ];
}

function layerSpecs(config: NetworkConfig, layer: number): [string, WeightSpec][] {
  const { width, cellWidth, screenHeads } = config;
  const name = (part: string) => `layer.${layer}.${part}`;
  const small = 0.5;
  return [
    [name('self.norm.gain'), vector(width, 1)],
    [name('self.norm.bias'), vector(width)],
    [name('self.query'), matrix(width, width)],
    [name('self.keyvalue'), matrix(width, 2 * width)],
    [name('self.out'), matrix(width, width, small)],
    [name('screen.norm.gain'), vector(width, 1)],
    [name('screen.norm.bias'), vector(width)],
    [name('screen.query'), matrix(width, screenHeads * cellWidth)],
    [name('screen.out'), matrix(screenHeads * cellWidth, width, small)],
    [name('mlp.norm.gain'), vector(width, 1)],
    [name('mlp.norm.bias'), vector(width)],
    [name('mlp.in.weight'), matrix(width, 4 * width)],
    [name('mlp.in.bias'), vector(4 * width)],
    [name('mlp.out.weight'), matrix(4 * width, width, small)],
    [name('mlp.out.bias'), vector(width)],
  ];
}

/** Every weight of the network by name, in the order in which files hold them. */
export function weightSpecs(config: NetworkConfig): Map<string, WeightSpec> {
  const { width, cellWidth, wordLength } = config;
  const layers = Array.from({ length: config.layers }, (_, layer) => layerSpecs(config, layer)).flat();
  return new Map([
    ...visionSpecs(config),
    ['words.characters', table(wordLength * WORD_CHARACTERS, width, 0.3)],
    // Two more rows: BOS and NONE.
    ['tokens.embedding', table(WORD_TOKENS + 2, width, 0.3)],
    ['tokens.cell', matrix(cellWidth, width)],
    ['tokens.position', table(prefixLength(config) + config.replyTokens, width, 0.1)],
    ...layers,
    ['head.norm.gain', vector(width, 1)],
    ['head.norm.bias', vector(width)],
    ['head.weight', matrix(width, WORD_TOKENS, 0.5)],
    ['head.bias', vector(WORD_TOKENS)],
    ['head.pointer', matrix(width, cellWidth)],
    ['head.copy.query', matrix(width, width)],
    ['head.copy.position', matrix(width, wordLength)],
    ['head.copy.scale', vector(TOKEN.firstCell - TOKEN.firstCharacter, 4)],
  ]);
}

/** Weights to start training from; same configuration, same seed, same weights. */
export function initialWeights(config: NetworkConfig, seed: number): Map<string, WeightTensor> {
  const weights = new Map<string, WeightTensor>();
  for (const [name, { shape, start }] of weightSpecs(config)) {
    const data = new Float32Array(elementCount(shape));
    if ('value' in start) data.fill(start.value);
    else fillNormal(data, start.deviation, new Random(`${seed}/${name}`));
    weights.set(name, { shape, data });
  }
  return weights;
}

function fillNormal(data: Float32Array, deviation: number, random: Random): void {
  for (let i = 0; i < data.length; i++) data[i] = random.gaussian() * deviation;
}
