import { hasNegation } from './flags.ts';
import type { CommandSpec, Io } from './spec.ts';
import { editDistance } from './usage.ts';

/** Variables for tests, builds and the parts that look for libraries; then options of one command that are near another's. */
const OTHERS: ReadonlySet<string> = new Set([
  'DART_SHARED',
  'DART_GUEST_TOKEN',
  'DART_TEST_REQUIRE',
  'DART_PYTHON',
  'DART_CUDA_LIBRARY',
  'DART_REQUIRE_CUDA',
  'DART_CPUS',
  'DART_GPUS',
  'DART_MIN_STEPS',
  'DART_MODE',
  'DART_PRESET',
  'DART_REPORT',
  'DART_RESET',
  'DART_TASK',
]);
const MOST_EDITS = 2;

/** `max-steps` → `DART_MAX_STEPS`. */
export function variableOf(option: string): string {
  return `DART_${option.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * A warning for each `DART_` variable that is almost an option of the command. Whatever is far from all of them may be
 * meant for another command, and passes without a word.
 * @param root The executable's own table; options of its other subcommands are known as well.
 */
export function variableWarnings(env: Io['env'], command: CommandSpec, root: CommandSpec): string[] {
  const known = new Set(variablesOf(root, true));
  const near = variablesOf(command, false);
  return Object.keys(env)
    .filter((name) => name.startsWith('DART_') && !known.has(name) && !OTHERS.has(name))
    .sort()
    .flatMap((name) => {
      const meant = nearestVariable(name, near);
      return meant === undefined ? [] : [`the variable ${name} is no option of this command. Try: ${meant}`];
    });
}

function variablesOf(spec: CommandSpec, deep: boolean): string[] {
  const own = spec.options.flatMap((option) =>
    hasNegation(option) ? [variableOf(option.name), variableOf(`no-${option.name}`)] : [variableOf(option.name)],
  );
  return deep ? [...own, ...(spec.subcommands ?? []).flatMap((sub) => variablesOf(sub, true))] : own;
}

/** Short names are near to each other by nature: a letter in three may differ, two at most. */
function nearestVariable(name: string, list: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.min(MOST_EDITS, Math.floor((name.length - 'DART_'.length) / 3)) + 1;
  for (const candidate of list) {
    const distance = editDistance(name, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}
