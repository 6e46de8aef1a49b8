import { DartError } from '../errors.ts';

export interface SpawnPlace {
  port: number;
  /** Number of the GPU; empty where there is none to name. */
  gpu: string;
  index: number;
  /** Folder or name of the model. */
  model?: string;
}

/**
 * The words of a command line, as a shell would split it: blanks, quotes of both kinds, backslashes. No variables, no
 * pipes: nothing is handed to a shell.
 * @throws DartError for a quote that does not end.
 */
export function wordsOfCommand(line: string): string[] {
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;
  let word: string | null = null;
  while (part.lastIndex < line.length) {
    const at = part.lastIndex;
    const found = part.exec(line);
    if (!found) throw new DartError(`a quote is open: ${line.slice(at)}`, { where: '--spawn', hint: 'close it' });
    const [, single, double, escaped, plain] = found;
    const text = single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain;
    if (text !== undefined) word = (word ?? '') + text;
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

/** Puts what belongs to one server in place of `{port}`, `{gpu}`, `{index}` and `{model}`. */
export function filled(words: readonly string[], place: SpawnPlace): string[] {
  return words.map((word) =>
    word.replace(/\{(port|gpu|index|model)\}/g, (_, name: keyof SpawnPlace) => {
      const value = place[name];
      if (value === undefined)
        throw new DartError('there is no model for {model}', { where: '--spawn', hint: '--model NAME' });
      return String(value);
    }),
  );
}

/** @throws DartError where the command cannot be told its port, or is empty. */
export function checkedCommand(line: string): string[] {
  const words = wordsOfCommand(line);
  if (words.length === 0)
    throw new DartError('the command is empty', { where: '--spawn', hint: "'vllm serve MODEL --port {port}'" });
  if (!words.some((word) => word.includes('{port}'))) {
    throw new DartError('the command does not take its port', { where: '--spawn', hint: 'add --port {port}' });
  }
  return words;
}
