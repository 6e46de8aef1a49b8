/**
 * Similarity of two texts, 0..1: rapidfuzz `fuzz.ratio` / 100, that is the Indel similarity 2·LCS / (|a| + |b|), where
 * LCS is the length of the longest common subsequence, over code points. Two empty texts are alike (1).
 */
export function textRatio(first: string, second: string): number {
  const a = [...first];
  const b = [...second];
  if (a.length + b.length === 0) return 1;
  let row = new Uint32Array(b.length + 1);
  for (const letter of a) {
    const next = new Uint32Array(b.length + 1);
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = letter === b[j - 1] ? row[j - 1]! + 1 : Math.max(row[j]!, next[j - 1]!);
    }
    row = next;
  }
  return (2 * row[b.length]!) / (a.length + b.length);
}
