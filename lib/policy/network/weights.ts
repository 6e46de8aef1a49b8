import { elementCount } from '../../graph/types.ts';
import { Random } from '../../stream/random.ts';
import type { NetworkConfig } from './config.ts';
import { CELL, gridOf, prefixLength } from './config.ts';
import { WORD_CHARACTERS, WORD_IDS } from './features.ts';
import { TOKEN, WORD_TOKENS } from './tokens.ts';

/** Ways in which a word that is found on the screen points: to its cell, its row, its column. */
export const FINDERS = 3;

export interface WeightTensor {
  shape: number[];
  data: Float32Array;
}

/** Standard deviation of a normal distribution, one constant, or zeros with one value along a diagonal. */
type Start = { deviation: number } | { value: number } | { diagonal: number; below: number };

export interface WeightSpec {
  shape: number[];
  start: Start;
  /** Learned once, before any task (learn_to_read.ts): no gradient, no place in published versions. */
  frozen?: true;
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

function readingSpecs(config: NetworkConfig): [string, WeightSpec][] {
  const { glyphWidth, letterWidth } = config;
  const specs: [string, WeightSpec][] = [
    ['reading.glyph.weight', matrix((CELL * CELL * 3) / 2, glyphWidth, 1.5)],
    ['reading.glyph.bias', vector(glyphWidth)],
    ['reading.code', matrix(glyphWidth, letterWidth)],
    ['reading.code.norm.gain', vector(letterWidth, 1)],
    ['reading.code.norm.bias', vector(letterWidth)],
    ['reading.letter', table(WORD_CHARACTERS, letterWidth, 1)],
    ['reading.letter.norm.gain', vector(letterWidth, 1)],
    ['reading.letter.norm.bias', vector(letterWidth)],
    ['reading.sharpness', vector(1, 0)],
    ['reading.threshold', vector(1, 8)],
  ];
  return specs.map(([name, spec]) => [name, { ...spec, frozen: true }]);
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
    ...readingSpecs(config),
    ...visionSpecs(config),
    ['words.identity', table(WORD_IDS + 2 * WORD_CHARACTERS, width, 0.3)],
    ['words.found', matrix(cellWidth, width)],
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
    ['head.copy.letter', matrix(width, wordLength, 0.1)],
    ['head.copy.place', { shape: [config.replyTokens, wordLength], start: { diagonal: 6, below: 1 } }],
    ['head.copy.scale', vector(TOKEN.firstCell - TOKEN.firstCharacter, 8)],
    ['head.find.query', matrix(width, FINDERS * width)],
    ['head.find.scale', vector(FINDERS, 4)],
  ]);
}

/** Weights to start training from; same configuration, same seed, same weights. */
export function initialWeights(config: NetworkConfig, seed: number): Map<string, WeightTensor> {
  const weights = new Map<string, WeightTensor>();
  for (const [name, { shape, start }] of weightSpecs(config)) {
    const data = new Float32Array(elementCount(shape));
    if ('value' in start) data.fill(start.value);
    else if ('diagonal' in start) fillDiagonal(data, shape, start);
    else fillNormal(data, start.deviation, new Random(`${seed}/${name}`));
    weights.set(name, { shape, data });
  }
  return weights;
}

function fillNormal(data: Float32Array, deviation: number, random: Random): void {
  for (let i = 0; i < data.length; i++) data[i] = random.gaussian() * deviation;
}

/** `diagonal` where the row is `below` more than the column. */
function fillDiagonal(data: Float32Array, shape: number[], start: { diagonal: number; below: number }): void {
  const [rows, columns] = shape as [number, number];
  for (let row = start.below; row < rows && row - start.below < columns; row++) {
    data[row * columns + row - start.below] = start.diagonal;
  }
}
