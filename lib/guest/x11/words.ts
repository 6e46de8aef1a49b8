import { DartError } from '../../errors.ts';

/**
 * A command line as Python's `shlex.split` takes it apart: blanks, quotes of both kinds, backslashes; no variables.
 * @throws DartError for a quote that does not end.
 */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;
  let word: string | null = null;
  while (part.lastIndex < line.length) {
    const at = part.lastIndex;
    const found = part.exec(line);
    if (!found) throw new DartError(`the command has no end: ${line.slice(at)}`, { hint: 'close the quote' });
    const [, single, double, escaped, plain] = found;
    const text = single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? plain;
    if (text !== undefined) word = (word ?? '') + text;
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}
