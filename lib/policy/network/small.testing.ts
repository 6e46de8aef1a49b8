import { GraphBuilder } from '../../graph/builder.ts';
import { add, cast, gather, matmul, reduceMean, reshape, scale, unsqueeze } from '../../graph/functions.ts';
import { float32 } from '../../graph/types.ts';
import { writeOnnx } from '../../graph/write.ts';
import { Random } from '../../stream/random.ts';
import type { NetworkConfig } from './config.ts';
import { DEFAULT_CONFIG, gridOf } from './config.ts';
import { HISTORY_PARTS, WORD_IDENTITY } from './features.ts';
import type { PolicyFile } from './policy_file.ts';
import { parsePolicyFile, writePolicyFile } from './policy_file.ts';
import { bosToken, vocabularySize } from './tokens.ts';
import { initialWeights } from './weights.ts';

/** The same architecture on a screen of 5 x 3 cells, narrow: for tests. */
export const SMALL: NetworkConfig = {
  ...DEFAULT_CONFIG,
  screen: { width: 40, height: 24 },
  width: 16,
  cellWidth: 16,
  heads: 2,
  glyphWidth: 8,
  letterWidth: 8,
};

export function smallFile(seed = 1, config: NetworkConfig = SMALL): PolicyFile {
  return parsePolicyFile(writePolicyFile(config, initialWeights(config, seed)), 'small.onnx');
}

export function randomScreen(random: Random, config: NetworkConfig = SMALL): Uint8Array {
  return Uint8Array.from({ length: config.screen.width * config.screen.height * 3 }, () => random.int(256));
}

/**
 * A policy made elsewhere, for screens of the default size: logits are the mean colour and the last token, each through
 * a table. It knows nothing of grammar.
 */
export function foreignPolicy(width = vocabularySize(gridOf(DEFAULT_CONFIG).cells)): Uint8Array {
  const { screen, words, wordLength, history } = DEFAULT_CONFIG;
  const { cells } = gridOf(DEFAULT_CONFIG);
  const random = new Random('foreign');
  const table = (rows: number) =>
    float32(
      Float32Array.from({ length: rows * width }, () => random.gaussian()),
      [rows, width],
    );
  const b = new GraphBuilder('foreign');
  const pixels = cast(b.input('screen', 'uint8', ['batch', screen.height, screen.width, 3]), 'float32');
  b.input('words', 'int32', ['batch', words, WORD_IDENTITY + wordLength]);
  b.input('history', 'int32', ['batch', history, HISTORY_PARTS]);
  const reply = b.input('reply', 'int32', ['batch', 'length']);
  const rows = b.input('rows', 'int32', ['tokens']);
  const colour = matmul(scale(reduceMean(pixels, [1, 2]), 1 / 255), b.initializer('colour', table(3)));
  const said = gather(b.initializer('said', table(bosToken(cells) + 2)), reply);
  b.output(gather(reshape(add(unsqueeze(colour, [1]), said), [-1, width]), rows), 'logits');
  return writeOnnx(b.graph);
}
