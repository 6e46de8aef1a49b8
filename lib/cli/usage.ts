import { DartError } from '../errors.ts';

/** The command was called in a way that it does not understand: shown with its usage line, exit 2. */
export class UsageError extends DartError {
  constructor(message: string, options: { where?: string; hint?: string } = {}) {
    super(message, options);
    this.name = 'UsageError';
  }
}

/** No input at all, at a terminal: the short help says what the command wants. Exit 2. */
export class NoInput extends UsageError {
  constructor() {
    super('no input', { hint: 'a file, or records on standard input' });
    this.name = 'NoInput';
  }
}

/** The word of the list that was probably meant, or undefined where none is near. */
export function nearest(word: string, list: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of list) {
    const distance = candidate.startsWith(word) && word.length > 2 ? 0.5 : editDistance(word, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** The words of the list that are most like one that is not in it, nearest first: for advice. */
export function nearestFew(word: string, list: Iterable<string>, count = 3): string[] {
  const far = (other: string) => (other.includes(word) ? 0 : editDistance(word, other));
  const sorted = [...list].sort((a, b) => far(a) - far(b) || editDistance(word, a) - editDistance(word, b));
  return sorted.slice(0, count);
}

/** `a, b or c`. */
export function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** How many letters must be added, dropped, changed or swapped with their neighbour (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, change);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, rows[i - 2]![j - 2]! + 1);
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
