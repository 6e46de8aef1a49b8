import { resolvePath } from '../lib/cli/input.ts';
import type { CommandContext, OptionSpec } from '../lib/cli/spec.ts';
import type { TaskFilter } from '../lib/osworld/load.ts';

/** Where a subcommand that looks at tasks takes them from. */
export const FROM_OPTION: OptionSpec = {
  name: 'from',
  type: 'string',
  value: 'DIR|FILE|-',
  required: true,
  describe:
    'A folder of task files, one task file, a list of ids beside its tasks, an NDJSON file, or - for standard input',
  group: 'Which',
};

/** Which tasks of a source to take; conditions add up. */
export const TASK_FILTERS: readonly OptionSpec[] = [
  {
    name: 'meta',
    type: 'string',
    value: 'FILE',
    describe: 'Only the tasks of this list, a JSON object of domains with their ids (test_small.json)',
    group: 'Which',
  },
  {
    name: 'domain',
    type: 'string',
    value: 'NAME',
    multiple: true,
    describe: 'Only tasks of this domain',
    group: 'Which',
  },
  { name: 'id', type: 'string', value: 'ID', multiple: true, describe: 'Only the task of this id', group: 'Which' },
  {
    name: 'sample',
    type: 'integer',
    value: 'N',
    min: 1,
    describe: 'Only N of them, drawn at random; the same ones for the same --seed',
    group: 'Which',
  },
];

/** What the options of `TASK_FILTERS` ask for. */
export function filterOf({ options, io }: CommandContext): TaskFilter {
  return {
    domains: options.domain as string[] | undefined,
    ids: options.id as string[] | undefined,
    meta: typeof options.meta === 'string' ? resolvePath(io, options.meta) : undefined,
    sample: options.sample as number | undefined,
    seed: options.seed as number | undefined,
  };
}
