import { existsSync } from 'node:fs';
import { resolvePath } from './input.ts';
import type { CommandContext, CommandSpec } from './spec.ts';
import { nearest, UsageError } from './usage.ts';

/**
 * A first word that is no file but nearly a subcommand was meant as one.
 * @param path Names from the command down: `['dart-curate']`.
 * @throws UsageError that says which.
 */
export function refuseMistyped(spec: CommandSpec, { io, positionals }: CommandContext, path: readonly string[]): void {
  const [word] = positionals;
  const names = (spec.subcommands ?? []).map((sub) => sub.name);
  if (word === undefined || names.length === 0 || existsSync(resolvePath(io, word))) return;
  const near = nearest(word, names);
  if (near === undefined) return;
  throw new UsageError(`there is no file and no subcommand '${word}'`, { hint: [...path, near].join(' ') });
}
