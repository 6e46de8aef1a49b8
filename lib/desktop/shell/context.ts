import type { Vfs } from '../files/vfs.ts';

/** What a command of the shell sees and what it leaves. */
export interface CommandContext {
  vfs: Vfs;
  /** Working folder; `cd` changes it. */
  folder: string;
  input: string;
  /** Complains on the error stream. */
  fail(message: string): number;
  out(text: string): void;
  /** Runs another command line (sh -c). */
  nested(line: string): number;
  /** Starts an application; false when there is no such one. */
  launch(argv: string[]): boolean;
  /** Ends an application by name; false when it does not run. */
  kill(name: string): boolean;
  /** Absolute path of an argument. */
  path(argument: string): string;
}

/** A command: gets its arguments (its name left out), returns the exit status. */
export type Command = (args: string[], context: CommandContext) => number;

/** Splits arguments into one-letter flags and the rest; `--` ends flags. */
export function flagsOf(args: string[]): { flags: Set<string>; rest: string[] } {
  const flags = new Set<string>();
  const rest: string[] = [];
  let open = true;
  for (const arg of args) {
    if (open && arg === '--') open = false;
    else if (open && /^-[a-zA-Z]+$/.test(arg)) for (const letter of arg.slice(1)) flags.add(letter);
    else rest.push(arg);
  }
  return { flags, rest };
}

/** Content of the named files one after another, or the input when none is named; null after a complaint. */
export function readAll(name: string, files: string[], context: CommandContext): string | null {
  if (files.length === 0) return context.input;
  let text = '';
  for (const file of files) {
    const path = context.path(file);
    const content = context.vfs.readText(path);
    if (content === null) {
      const reason = context.vfs.isFolder(path) ? 'Is a directory' : 'No such file or directory';
      context.fail(`${name}: ${file}: ${reason}`);
      return null;
    }
    text += content;
  }
  return text;
}

/** Lines without their ends; a last line without one counts. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
