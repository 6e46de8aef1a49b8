/** Thirty years: who asked for more asked for no limit. */
const FOREVER_MS = 1e12;

/** How long is waited, for people: `up to 2 s`, `for 60 s`, or `as long as it takes`. */
export function spanOf(word: 'up to' | 'for', ms: number): string {
  return ms >= FOREVER_MS ? 'as long as it takes' : `${word} ${Math.round(ms) / 1000} s`;
}
