import { COMMON_WORDS } from './common_words.ts';
import type { NetworkConfig } from './config.ts';
import { DEFAULT_CONFIG, gridOf } from './config.ts';
import { CHARACTERS, noneToken } from './tokens.ts';
import { encodeReply } from './vocabulary.ts';

/** Characters of words: 0 is nothing, 1 anything that the vocabulary lacks. */
const UNKNOWN = 1;
const FIRST = 2;
export const WORD_CHARACTERS = FIRST + CHARACTERS.length;

/** Before a word's letters: which word it is, and the two characters of a word that is no longer. */
export const WORD_IDENTITY = 3;
/** 0 is no word, 1 a name, the rest common words. */
export const WORD_IDS = 2 + COMMON_WORDS.length;

const commonIds = new Map(COMMON_WORDS.map((word, i) => [word, 2 + i]));

/** Tokens of one earlier reply: the verb and two arguments. */
export const HISTORY_PARTS = 3;

/** Left out first where an instruction has more words than the network sees. */
const FILLERS = new Set([
  'the',
  'a',
  'an',
  'of',
  'to',
  'please',
  'in',
  'on',
  'and',
  'my',
  'it',
  'that',
  'with',
  'for',
  'is',
]);

/** `B3` stands on no screen; `B` and `3` do, at the head of its column and of its row. */
const CELL_REFERENCE = /^([a-z])(\d{1,2})$/;

/**
 * The words that the network sees: lower case, without quotes and without punctuation at their ends, a cell of a
 * sheet as two. Of an instruction with too many, filler words go first, then the last words.
 */
export function wordsOf(instruction: string, limit: number): string[] {
  const words = instruction
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(/^["'“”‘’`]+|["'“”‘’`?!;:,.]+$/g, ''))
    .flatMap((word) => CELL_REFERENCE.exec(word)?.slice(1) ?? [word])
    .filter((word) => word !== '');
  const kept = [...words];
  for (let i = kept.length - 1; i >= 0 && kept.length > limit; i--) {
    if (FILLERS.has(kept[i]!)) kept.splice(i, 1);
  }
  return kept.slice(0, limit);
}

/**
 * Words [words, 3 + wordLength]: identity (which word; first and second character where it has no more, as `B3` and `7`),
 * then its character codes, 0 where there is none.
 */
export function encodeWords(instruction: string, config: NetworkConfig = DEFAULT_CONFIG): Int32Array {
  const width = WORD_IDENTITY + config.wordLength;
  const encoded = new Int32Array(config.words * width);
  wordsOf(instruction, config.words).forEach((word, w) => {
    const codes = Array.from(word.slice(0, config.wordLength), codeOf);
    const short = word.length <= 2 ? codes : [];
    encoded.set([commonIds.get(word) ?? 1, short[0] ?? 0, short[1] ?? 0, ...codes], w * width);
  });
  return encoded;
}

function codeOf(character: string): number {
  const at = CHARACTERS.indexOf(character);
  return at < 0 ? UNKNOWN : FIRST + at;
}

/**
 * Tokens [history, 3] of the latest replies, the newest last: verb and two arguments, NONE where there is none. A reply
 * that the vocabulary cannot say is all NONE.
 */
export function encodeHistory(replies: readonly string[], config: NetworkConfig = DEFAULT_CONFIG): Int32Array {
  const none = noneToken(gridOf(config).cells);
  const tokens = new Int32Array(config.history * HISTORY_PARTS).fill(none);
  const latest = replies.slice(-config.history);
  latest.forEach((reply, i) => {
    const ids = idsOf(reply, config);
    tokens.set(ids.slice(0, HISTORY_PARTS), (config.history - latest.length + i) * HISTORY_PARTS);
  });
  return tokens;
}

const LIMIT = 4096;
const remembered = new WeakMap<NetworkConfig, Map<string, readonly number[]>>();

/** The same replies come again at every step of an episode, and reading them is half the work of encoding a step. */
function idsOf(reply: string, config: NetworkConfig): readonly number[] {
  const known = remembered.get(config) ?? new Map<string, readonly number[]>();
  remembered.set(config, known);
  const before = known.get(reply);
  if (before) return before;
  if (known.size >= LIMIT) known.clear();
  const ids = encodeReply(reply, config) ?? [];
  known.set(reply, ids);
  return ids;
}

export interface NetworkInput {
  /** Row-major, 3 bytes a pixel, of the configured screen size. */
  rgb: Uint8Array;
  instruction: string;
  /** Earlier replies, oldest first. */
  history: readonly string[];
}

export interface EncodedInput {
  screen: Uint8Array;
  words: Int32Array;
  history: Int32Array;
}

/** What the network sees of one step. */
export function encodeInputs(input: NetworkInput, config: NetworkConfig = DEFAULT_CONFIG): EncodedInput {
  return {
    screen: input.rgb,
    words: encodeWords(input.instruction, config),
    history: encodeHistory(input.history, config),
  };
}
