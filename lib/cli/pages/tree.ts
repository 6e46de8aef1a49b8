import type { CommandSpec } from '../spec.ts';

export interface Node {
  spec: CommandSpec;
  /** `['dart-eval', 'score']` */
  path: string[];
}

/** The command and all below it, each after its parent. */
export function commandsOf(spec: CommandSpec, above: readonly string[] = []): Node[] {
  const path = [...above, spec.name];
  return [{ spec, path }, ...(spec.subcommands ?? []).flatMap((sub) => commandsOf(sub, path))];
}
