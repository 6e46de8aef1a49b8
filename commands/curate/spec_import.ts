import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';
import { POOL_CAPACITY, STORE } from './options.ts';

const SOURCE: OptionSpec[] = [
  {
    name: 'from',
    type: 'string',
    value: 'FORM',
    choices: ['dart', 'osworld', 'jsonl'],
    required: true,
    describe: 'What the files are: DART’s messages, OSWorld’s results, or plain NDJSON',
  },
  {
    name: 'reward',
    type: 'number',
    value: 'R',
    min: 0,
    max: 1,
    describe: 'Reward of episodes that come without one; else they end in evaluator_error, without reward',
  },
  {
    name: 'task-dir',
    type: 'string',
    value: 'DIR',
    describe: 'Folder of task files (OSWorld’s examples): gives instruction and domain by task id',
  },
  {
    name: 'coordinates',
    type: 'string',
    choices: ['smart-resize', 'relative', 'absolute'],
    describe:
      'What places in replies are: pixels of the image as Qwen2.5-VL resizes it (dart), thousandths, or pixels of the screen (jsonl)',
  },
  {
    name: 'render-replies',
    type: 'boolean',
    describe: 'osworld: write each reply anew from its actions, as "Action: click(…)", also where one was recorded',
  },
  {
    name: 'initial-screens',
    type: 'string',
    value: 'DIR',
    describe: 'osworld: folder with TASK_ID.png, the screen a task begins with, which the runner does not save',
  },
  {
    name: 'require-screens',
    type: 'boolean',
    describe: 'Leave out whole episodes of which a screenshot is missing',
  },
  {
    name: 'run-id',
    type: 'string',
    value: 'ID',
    describe: 'Run that the trajectories are said to be of (import-FORM)',
  },
].map((option) => ({ ...option, group: 'Input' }) as OptionSpec);

const BLOBS: OptionSpec = {
  name: 'blobs',
  type: 'string',
  value: 'DIR',
  describe: 'Folder that the screenshots go to (default: $XDG_STATE_HOME/dart/blobs)',
  group: 'Output',
};

/** `dart-curate import`. */
export const importSpec: CommandSpec = {
  name: 'import',
  summary: 'Turn runs from elsewhere into trajectory records',
  description: [
    'Reads episodes that other programs have recorded and prints trajectory records. Screenshots go to the blob store, each different one once. Whatever is missing (a reward, a screenshot, an instruction, the end of a last line) is said in an event record; a step without screenshot is left out, while its reply stays in the history of later steps. The same files give the same trajectories with the same ids, wherever they lie.',
    'Nothing outside the given folders is read, but for the NAME.json beside the folder NAME of a DART trace: paths that lead out of them, and links, are refused. With --store the trajectories are stored as well, and the successes enter the experience pool; once stored, they change nothing when they come again.',
  ].join('\n\n'),
  options: [
    ...SOURCE,
    BLOBS,
    { ...STORE, describe: 'Also store the trajectories here, and put the successes into the pool' },
    POOL_CAPACITY,
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
    DRY_RUN_OPTION,
  ],
  positionals: [
    { name: 'paths', describe: 'Folders (at any level of their tree) or files', multiple: true, required: true },
  ],
  examples: [
    {
      command:
        'dart-curate import --from osworld results/ --task-dir evaluation_examples/examples | dart-curate pool add',
      describe: 'successes of an OSWorld run into the pool',
    },
    {
      command: 'dart-curate import --from dart traces/ --reward 1 | dart-curate demos -o demos.ndjson',
      describe: 'one demonstration a step',
    },
  ],
  exitCodes: { 1: 'no episode was found', 2: 'usage, input or output error; also when files were left out' },
  run: async (context) => (await import('./import.ts')).run(context),
};
