/** 32-bit hash of a seed and a label (FNV-1a, then a finaliser): layout jitter needs no more. */
export function hash(seed: number, label: string): number {
  let h = (0x811c9dc5 ^ (seed % 0x1_0000_0000)) >>> 0;
  h = Math.imul(h, 0x01000193) ^ Math.floor(seed / 0x1_0000_0000);
  for (let i = 0; i < label.length; i++) h = Math.imul(h ^ label.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Integer in [0, n) that depends only on seed and label. */
export function jitter(seed: number, label: string, n: number): number {
  return hash(seed, label) % n;
}

/** The items in an order that depends only on the seed and on the items' names, whatever else is in the list. */
export function seededOrder<T>(seed: number, items: readonly T[], name: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, key: hash(seed, name(item)) }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
