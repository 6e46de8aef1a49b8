import { COMMON_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';

const OPTIONS: readonly OptionSpec[] = [
  { name: 'id', type: 'string', value: 'ID', describe: 'The trajectory of this trajectory_id, or of this task_id' },
  {
    name: 'index',
    type: 'integer',
    value: 'N',
    min: 0,
    describe: 'The trajectory at this place among those of the input, counted from 0 (default: 0)',
  },
  {
    name: 'html',
    type: 'string',
    value: 'FILE|-',
    describe:
      'Write a self-contained HTML page instead of text; without --id and --index of all trajectories (folders that are missing are made)',
  },
  {
    name: 'blobs',
    type: 'string',
    value: 'DIR',
    describe: 'Folder of the screenshots (default: $XDG_STATE_HOME/dart/blobs)',
  },
];

/** `dart-rollout show`: a trajectory for people. */
export const show: CommandSpec = {
  name: 'show',
  summary: 'Show a trajectory to people, as text or as a page',
  description: [
    'Prints one trajectory: what was to be done, what came of it, and for each step the thought, the action, errors, tokens, entropy and times.',
    'With --html it writes a page that holds everything it needs, screenshots included: actions drawn on the screens, tokens coloured by entropy, keys for going through the steps. Screenshots that --blobs does not have are shown as missing.',
  ].join('\n\n'),
  options: [...OPTIONS, ...COMMON_OPTIONS],
  positionals: [{ name: 'files', describe: 'NDJSON files with trajectories, - for standard input', multiple: true }],
  examples: [
    { command: 'dart-rollout show run.ndjson --index 3', describe: 'the fourth trajectory as text' },
    {
      command: 'dart-rollout show run.ndjson --id chrome-bookmark-tea --html tea.html',
      describe: 'the first trajectory of a task as a page',
    },
    { command: 'dart-rollout show run.ndjson --html run.html', describe: 'all trajectories as one page, with a list' },
  ],
  exitCodes: { 1: 'no trajectory in the input', 2: 'bad input, or no trajectory of this id or index' },
  run: async (context) => (await import('./show.ts')).run(context),
};
