/** The name of the list that was probably meant, whatever its capitals, or undefined where none is near. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    const distance = lettersApart(word.toLowerCase(), name.toLowerCase());
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** Levenshtein's distance: letters added, dropped or changed. */
function lettersApart(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      row.push(Math.min(above[j + 1]! + 1, row[j]! + 1, above[j]! + (letter === b[j] ? 0 : 1)));
    }
    above = row;
  }
  return above[b.length]!;
}
