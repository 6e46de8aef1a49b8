import { fstatSync, type Stats, statSync } from 'node:fs';
import { resolvePath } from './input.ts';
import type { CommandContext, CommandSpec, OptionSpec } from './spec.ts';
import { UsageError } from './usage.ts';

/** Options that name a file to write. */
const OUTPUTS: readonly string[] = ['output', 'html', 'trajectories'];

/**
 * Refuses to write onto what is read: the output would take the place of the input, which is gone then. Links and other
 * spellings of a path are the same file, and so is standard input that was redirected from it.
 * @throws UsageError naming the file.
 */
export function refuseSameFile(spec: CommandSpec, context: CommandContext): void {
  const { io, options } = context;
  for (const option of OUTPUTS) {
    const output = options[option];
    if (typeof output !== 'string' || output === '-') continue;
    const target = fileAt(resolvePath(io, output));
    const isTarget = (name: string) => isSame(name === '-' ? standardInput() : fileAt(resolvePath(io, name)), target);
    const same = target && inputsOf(spec, context).find(isTarget);
    if (!same) continue;
    const where = same === '-' ? `--${option} ${output}, standard input` : `--${option} ${output}`;
    throw new UsageError('input file is output file', { where, hint: 'an output with another name' });
  }
}

/** Paths on the command line that are read; `-` for standard input. */
function inputsOf(spec: CommandSpec, { options, positionals }: CommandContext): string[] {
  const isPath = ({ name, value }: OptionSpec) => (value === 'FILE' || value === 'PATH') && !OUTPUTS.includes(name);
  const named = spec.options.filter(isPath).flatMap(({ name }) => options[name] ?? []);
  const stdin = positionals.length === 0 && (spec.positionals ?? []).length > 0 ? ['-'] : [];
  return [...positionals, ...stdin, ...named.map(String)];
}

function isSame(input: Stats | null, target: Stats | null): boolean {
  return input !== null && target !== null && input.dev === target.dev && input.ino === target.ino;
}

/** Only of files something can be lost. */
function fileAt(path: string): Stats | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found : null;
}

function standardInput(): Stats | null {
  try {
    const found = fstatSync(0);
    return found.isFile() ? found : null;
  } catch {
    // It is closed.
    return null;
  }
}
