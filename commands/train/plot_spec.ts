import { COMMON_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';

const OPTIONS: readonly OptionSpec[] = [
  {
    name: 'metrics',
    type: 'string',
    value: 'NAMES',
    describe: 'Metrics to show, with commas between them, with or without train/ (default: all that have a value)',
  },
  {
    name: 'x',
    type: 'string',
    choices: ['update', 'tokens', 'wall'],
    default: 'update',
    describe: 'Axis of the curves: updates, tokens learned from, or seconds of updates and waiting',
  },
  {
    name: 'smooth',
    type: 'number',
    value: 'W',
    min: 0,
    max: 0.999,
    default: 0,
    describe: 'Exponential moving average in which the past has this weight',
  },
  { name: 'svg', type: 'string', value: 'FILE|-', describe: 'Write the curves as an SVG picture instead of text' },
  { name: 'html', type: 'string', value: 'FILE|-', describe: 'Write a self-contained HTML page instead of text' },
];

/** `dart-train plot`: the metrics of runs for people. */
export const plot: CommandSpec = {
  name: 'plot',
  summary: 'Show the metrics of runs, as text or as a page',
  description: [
    'Reads the metric records that dart-train wrote, one file a run, and prints for each metric its course in bars, with the first, last, least and largest value. Records of other types are left out.',
    'With --svg or --html it draws curves, one picture a metric and one curve a run, in a file that asks nothing of the network. An update that was made again after a restart counts as it was made last.',
  ].join('\n\n'),
  options: [...OPTIONS, ...COMMON_OPTIONS],
  positionals: [{ name: 'files', describe: 'NDJSON files, one a run; - for standard input', multiple: true }],
  examples: [
    { command: 'dart-train plot run.ndjson --metrics loss,reward_mean,entropy', describe: 'three metrics at a glance' },
    {
      command: 'dart-train plot dart.ndjson grpo.ndjson --x tokens --smooth 0.9 --html compare.html',
      describe: 'two runs as a page of curves',
    },
  ],
  exitCodes: { 1: 'there was no metric of an update in the input' },
  run: async (context) => (await import('./plot.ts')).run(context),
};
