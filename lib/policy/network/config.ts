import { z } from 'zod';
import { DartError } from '../../errors.ts';

/** Cell of the screen that the network points at, in pixels: 8x8 holds two characters of text. */
export const CELL = 8;

const positive = z.number().int().positive();

/** Everything that fixes the shapes of the network's weights. It travels in the policy file's metadata. */
export const networkConfigSchema = z.object({
  architecture: z.literal('dart-vla-1'),
  screen: z.object({ width: positive.multipleOf(CELL), height: positive.multipleOf(CELL) }),
  /** Width of every token. */
  width: positive,
  /** Width of a cell of the screen. */
  cellWidth: positive,
  /** Heads of the self-attention, and of the attention to the screen. */
  heads: positive,
  screenHeads: positive,
  layers: positive,
  /**
   * Vision layers: each adds up the cells at these offsets [dx, dy], each through a matrix of its own. Cells are taken
   * in reading order, so that the right neighbour of a row's last cell is the next row's first.
   */
  vision: z.array(z.array(z.tuple([z.number().int(), z.number().int()])).min(1)),
  words: positive,
  wordLength: positive,
  /** How many first letters of a word are looked for on the screen; even. */
  matched: positive.multipleOf(2),
  /** What is seen of a character, and the width of a letter's code, the same for instruction and screen. */
  glyphWidth: positive,
  letterWidth: positive,
  /** Earlier replies that are seen. */
  history: positive,
  replyTokens: positive,
});

export type NetworkConfig = z.infer<typeof networkConfigSchema>;

/** The embedded policy (design §6). Why these sizes: docs/log.md. */
export const DEFAULT_CONFIG: NetworkConfig = {
  architecture: 'dart-vla-1',
  screen: { width: 160, height: 120 },
  width: 64,
  cellWidth: 64,
  heads: 4,
  screenHeads: 2,
  layers: 2,
  vision: [
    [
      [-1, 0],
      [0, 0],
      [1, 0],
    ],
    [
      [0, -1],
      [-1, 0],
      [0, 0],
      [1, 0],
      [0, 1],
    ],
  ],
  words: 16,
  wordLength: 10,
  matched: 6,
  glyphWidth: 32,
  letterWidth: 24,
  history: 6,
  replyTokens: 14,
};

const HINT = 'use a policy file written by this version of the toolkit';

/** @throws DartError where the metadata of a policy file is not such a configuration */
export function parseConfig(json: string, where: string): NetworkConfig {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new DartError('the network configuration in the policy file is not JSON', { where, hint: HINT, cause });
  }
  const result = networkConfigSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new DartError(
    `the network configuration in the policy file is wrong: ${issue?.path.join('.')} ${issue?.message}`,
    {
      where,
      hint: HINT,
    },
  );
}

/** Cells that the screen is looked at in. */
export function gridOf(config: NetworkConfig): { columns: number; rows: number; cells: number } {
  const [columns, rows] = [config.screen.width / CELL, config.screen.height / CELL];
  return { columns, rows, cells: columns * rows };
}

/** Tokens before the reply: words, earlier replies. The first reply token's input is BOS. */
export function prefixLength(config: NetworkConfig): number {
  return config.words + config.history;
}
