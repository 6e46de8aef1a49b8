import { bosToken, TOKEN, vocabularySize } from './tokens.ts';

/** Half-open ranges of token ids. */
export type Ranges = readonly (readonly [number, number])[];

/**
 * What may follow in a reply. The state is given by the last token and how many came before: cells after placed verbs,
 * characters after `type`, one more cell after the first of a drag.
 */
export interface Grammar {
  /** Ids that may come next; empty where the reply is over. */
  next(reply: readonly number[]): Ranges;
  /** Rows of an additive mask by state: 0 where allowed, −∞ where not. */
  masks: Float32Array[];
  /** Row of the mask for an input token, wherever it stands. */
  stateOf(token: number): number;
}

const STATES = ['start', 'place', 'text', 'last', 'over'] as const;

/** The grammar of replies over `cells` cells, of at most `replyTokens` tokens. */
export function replyGrammar(cells: number, replyTokens: number): Grammar {
  const size = vocabularySize(cells);
  const bos = bosToken(cells);
  const allowed: Record<(typeof STATES)[number], Ranges> = {
    start: [[0, TOKEN.firstCharacter]],
    place: [[TOKEN.firstCell, size]],
    text: [[TOKEN.firstCharacter, TOKEN.firstCell]],
    last: [[TOKEN.newline, TOKEN.firstCell]],
    over: [],
  };
  const stateName = (token: number): (typeof STATES)[number] => {
    if (token === bos) return 'start';
    if (token < TOKEN.firstPlain) return 'place';
    if (token === TOKEN.type || (token >= TOKEN.firstCharacter && token < TOKEN.newline)) return 'text';
    // The only reply that goes on after a cell is a drag.
    if (token >= TOKEN.firstCell && token < size) return 'place';
    return 'over';
  };
  return {
    next(reply) {
      const last = reply.at(-1);
      if (last === undefined) return allowed.start;
      if (last >= TOKEN.firstCell && !(reply[0] === TOKEN.drag && reply.length === 2)) return allowed.over;
      const state = stateName(last);
      if (state === 'text' && reply.length === replyTokens - 1) return allowed.last;
      return allowed[state];
    },
    masks: STATES.map((state) => {
      const mask = new Float32Array(size).fill(Number.NEGATIVE_INFINITY);
      for (const [from, to] of allowed[state]) mask.fill(0, from, to);
      // A row without any allowed entry could not be normalised; it is never asked for.
      return allowed[state].length === 0 ? mask.fill(0) : mask;
    }),
    stateOf: (token) => STATES.indexOf(stateName(token)),
  };
}

/** Row of `masks` that applies where only one token is left of the reply: typed text must end. */
export const LAST_STATE = STATES.indexOf('last');

/** True where the ids are one whole reply. */
export function isWholeReply(grammar: Grammar, ids: readonly number[]): boolean {
  if (ids.length === 0) return false;
  const follows = ids.every((id, i) => grammar.next(ids.slice(0, i)).some(([from, to]) => id >= from && id < to));
  return follows && grammar.next(ids).length === 0;
}
