/** The words of a command line as a POSIX shell splits them, without any expansion; null where a quote stays open. */
export function shellWords(line: string): string[] | null {
  const words: string[] = [];
  const pattern = /\s+|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/gy;
  let word: string | null = null;
  while (pattern.lastIndex < line.length) {
    const match = pattern.exec(line);
    if (!match) return null;
    const [whole, single, double, escaped, bare] = match;
    if (/^\s/.test(whole)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    // In double quotes a backslash is itself but before a quote or a backslash.
    word = (word ?? '') + (single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? bare ?? '');
  }
  if (word !== null) words.push(word);
  return words;
}
