import type { Program, Variable } from './program.ts';
import { markdownTable } from './report.ts';

/** The base policy that the published tables begin with. It was made by `make ablation ARGS=base`. */
export const TAUGHT_POLICY = 'fixtures/policies/taught.onnx';
/** The demo's: it fails often, on nearly all tasks, as ARPO's base does; nothing there needs more. */
const DEMO_POLICY = 'fixtures/policies/base.onnx';

const folder = (otherwise: string): Variable => ({
  ...{ otherwise, describe: 'folder of its runs: what is there is not made again' },
});
const base = (otherwise: string): Variable => ({ otherwise, describe: 'policy that every arm begins with' });

/** What two programs have in common. */
const COMMON = {
  ARMS: { otherwise: 'all', describe: 'only these arms, by name, with commas between; a wrong name lists them' },
  SEEDS: { otherwise: 5, describe: 'paired seeds, from 1 to this' },
  REPEATS: { otherwise: 8, describe: 'rollouts a task in the evaluations at which arms are compared' },
  EVAL_TASKS: { otherwise: 'all', describe: 'only so many tasks in each evaluation, drawn by its seed: for trials' },
} as const satisfies Record<string, Variable>;

const PUBLISH = {
  publish: 'Write the tables into docs/results.md too, pictures and runs into docs/results/.',
} as const;
const PUBLISHED = {
  published: 'Go on from the runs in docs/results/: they are laid into RUN_DIR.',
} as const;

/** `make ablation` */
export const ABLATION = {
  name: 'ablation',
  summary: "DART's ladder on the embedded suite, each arm with the same seeds",
  words: {
    conditions: 'Only measure what the suite and the base policy offer to each idea.',
    base: 'Make the base policy anew, in runs/taught/.',
  },
  flags: {
    ...{ ...PUBLISH, ...PUBLISHED },
    report: 'Make nothing: tables of the runs in RUN_DIR that have these settings. Others are left out and named.',
  },
  variables: {
    RUN_DIR: folder('runs/ablation'),
    BASE: base(TAUGHT_POLICY),
    ARMS: COMMON.ARMS,
    SEEDS: COMMON.SEEDS,
    TRAIN_SECONDS: { otherwise: 480, describe: 'seconds of training at which arms are compared' },
    TRAJECTORIES: {
      ...{ otherwise: '15 × TRAIN_SECONDS', describe: 'rollouts of a training at which arms are compared as well' },
    },
    LIMIT_SECONDS: {
      ...{ otherwise: '1.1 × TRAIN_SECONDS', describe: 'a training that has not made its rollouts by then ends' },
    },
    POINTS: { otherwise: 8, describe: 'points of the learning curve, at equal distances, the last at TRAIN_SECONDS' },
    REPEATS: COMMON.REPEATS,
    POINT_REPEATS: { otherwise: 4, describe: 'rollouts a task at the other points of the curve' },
    CONDITION_REPEATS: { otherwise: 32, describe: 'rollouts a task of the base policy for the conditions' },
    EVAL_TASKS: COMMON.EVAL_TASKS,
    LANES: { otherwise: 2, describe: 'pieces of work at once: while one training waits for desktops another computes' },
  },
} as const satisfies Program;

/** `make arpo` */
export const ARPO = {
  name: 'arpo',
  summary: "ARPO's comparison: base, reject sampling, DPO, KTO, GRPO, ARPO; and what selecting tasks does",
  words: {},
  flags: { ...PUBLISH, ...PUBLISHED },
  variables: {
    RUN_DIR: folder('runs/arpo'),
    BASE: base(DEMO_POLICY),
    ARMS: COMMON.ARMS,
    SEEDS: COMMON.SEEDS,
    TRAJECTORIES: { otherwise: 4096, describe: 'rollouts that each arm learns from' },
    LIMIT_SECONDS: { otherwise: 600, describe: 'an online arm that has not made its rollouts by then ends' },
    OFFLINE_SECONDS: { otherwise: 600, describe: 'an arm that has not learned from the stored rollouts by then ends' },
    IN_DOMAIN: { otherwise: 32, describe: 'tasks that are learned from' },
    SELECT_ROLLOUTS: { otherwise: 16, describe: 'rollouts of each training task that tasks are selected by' },
    REPEATS: COMMON.REPEATS,
    CASE_REPEATS: { otherwise: 64, describe: 'rollouts of the self-correction case' },
    EVAL_TASKS: COMMON.EVAL_TASKS,
  },
} as const satisfies Program;

/** `make rollout-scaling` */
export const SCALING = {
  name: 'rollout-scaling',
  summary: "ARPO's figure: time of a batch of rollouts and of an epoch for 8 to 256 desktops, simulated and real",
  words: {},
  flags: PUBLISH,
  variables: {
    RUN_DIR: folder('runs/rollout-scaling'),
    DESKTOPS: { otherwise: '8,16,32,64,128,256', describe: 'numbers of desktops, with commas between' },
    REAL_DESKTOPS: { otherwise: 64, describe: 'the most that are real as well as simulated' },
    SCALE: { otherwise: 60, describe: 'real desktops and requests are so many times faster than the workload' },
    BATCHES: {
      ...{ otherwise: 3, describe: 'real batches, one after another; decoupled, a desktop has one rollout more' },
    },
  },
} as const satisfies Program;

/** Every program of this folder. */
export const PROGRAMS: readonly Program[] = [ABLATION, ARPO, SCALING];

/** The section `settings` of docs/results.md. */
export function settingsText(): string {
  const names = PROGRAMS.map(({ name }) => `make ${name}`);
  const args = rowsOf(
    (program) => [
      ...Object.entries(program.words),
      ...Object.entries<string>(program.flags).map(([flag, text]) => [`--${flag}`, text] as const),
    ],
    (text) => text,
    () => 'yes',
  );
  const variables = rowsOf(
    (program) => Object.entries(program.variables),
    ({ describe }) => `${describe[0]!.toUpperCase()}${describe.slice(1)}.`,
    ({ otherwise }) => String(otherwise),
  );
  return [
    'Words and options in `ARGS`, with spaces between (`make ablation ARGS="conditions --publish"`); `ARGS=--help` prints them, and the variables:',
    markdownTable({ head: ['ARGS', ...names, ''], rows: args }),
    'Variables, and what they are where nobody says (`make ablation SEEDS=2 ARMS=baseline,full`):',
    markdownTable({ head: ['variable', ...names, ''], rows: variables }),
  ].join('\n\n');
}

/** A row for each name and description, a column for each program. */
function rowsOf<T>(
  entriesOf: (program: Program) => readonly (readonly [string, T])[],
  describe: (entry: T) => string,
  cell: (entry: T) => string,
): (string | null)[][] {
  const rows = new Map<string, { name: string; text: string; cells: (string | null)[] }>();
  for (const [column, program] of PROGRAMS.entries()) {
    for (const [name, entry] of entriesOf(program)) {
      const text = describe(entry);
      const row = rows.get(`${name} ${text}`) ?? { name, text, cells: PROGRAMS.map(() => null) };
      row.cells[column] = cell(entry);
      rows.set(`${name} ${text}`, row);
    }
  }
  return [...rows.values()].map(({ name, text, cells }) => [`\`${name}\``, ...cells, text]);
}
