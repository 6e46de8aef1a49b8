/** A run that two sequences have in common: where it starts in each, and its length. */
interface Block {
  a: number;
  b: number;
  size: number;
}

/** From and to in a, from and to in b, the ends excluded. */
type Range = [number, number, number, number];

/** Sequences of this length on have no use for elements that make up more than a hundredth of them. */
const POPULAR_FROM = 200;

/**
 * Python's `difflib.SequenceMatcher(None, a, b).ratio()`: twice the length of all matching blocks over that of both
 * sequences. Its habits are kept: popular elements of a long `b` start no match, and it is not symmetric.
 */
export function sequenceRatio(a: readonly string[], b: readonly string[]): number {
  if (a.length + b.length === 0) return 1;
  const places = placesOf(b);
  let matched = 0;
  const open: Range[] = [[0, a.length, 0, b.length]];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const [aFrom, aTo, bFrom, bTo] = range;
    const block = longestMatch(a, b, places, range);
    if (block.size === 0) continue;
    matched += block.size;
    open.push([aFrom, block.a, bFrom, block.b], [block.a + block.size, aTo, block.b + block.size, bTo]);
  }
  return (2 * matched) / (a.length + b.length);
}

function placesOf(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [at, element] of b.entries()) {
    const known = places.get(element);
    if (known === undefined) places.set(element, [at]);
    else known.push(at);
  }
  if (b.length < POPULAR_FROM) return places;
  const most = Math.floor(b.length / 100) + 1;
  return new Map([...places].filter(([, all]) => all.length <= most));
}

function longestMatch(
  a: readonly string[],
  b: readonly string[],
  places: Map<string, number[]>,
  [aFrom, aTo, bFrom, bTo]: Range,
): Block {
  const best: Block = { a: aFrom, b: bFrom, size: 0 };
  // Lengths of the matches that end at the last element of a looked at, by where they end in b.
  let ending = new Map<number, number>();
  for (let i = aFrom; i < aTo; i += 1) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i]!) ?? []) {
      if (j < bFrom) continue;
      if (j >= bTo) break;
      const size = (ending.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) Object.assign(best, { a: i - size + 1, b: j - size + 1, size });
    }
    ending = next;
  }
  while (best.a > aFrom && best.b > bFrom && a[best.a - 1] === b[best.b - 1]) {
    best.a -= 1;
    best.b -= 1;
    best.size += 1;
  }
  const end = () => [best.a + best.size, best.b + best.size] as const;
  while (end()[0] < aTo && end()[1] < bTo && a[end()[0]] === b[end()[1]]) best.size += 1;
  return best;
}
