import type { OptionSpec } from '../../lib/cli/spec.ts';
import { PROTOCOLS } from '../../lib/osworld/protocol.ts';
import { TEMPERATURE_OPTION } from '../temperature_option.ts';
import { REPORT_OPTION } from './report_options.ts';

/** Which success rate verdicts and comparisons look at. */
export const GATE_OPTION: OptionSpec = {
  name: 'gate',
  type: 'string',
  value: 'WHICH',
  choices: ['scored', 'errors-as-zero'],
  default: 'scored',
  describe:
    'Success that --fail-under and --baseline look at: over what could be scored, or with 0 for rollouts that ended in an error and tasks that cannot be scored',
  group: 'Verdict',
};

/** What decides whether an evaluation passes. */
export const VERDICT_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'fail-under',
    type: 'number',
    value: 'SUCCESS',
    min: 0,
    max: 1,
    describe: 'Exit 1 when the success rate is below this (0..1)',
    group: 'Verdict',
  },
  GATE_OPTION,
  {
    name: 'baseline',
    type: 'string',
    value: 'FILE',
    describe: 'Results of an earlier evaluation, to compare with task by task; exit 1 on a regression',
    group: 'Verdict',
  },
  {
    name: 'max-regression',
    type: 'number',
    value: 'LOSS',
    min: 0,
    max: 1,
    describe:
      'Mean loss against --baseline that is let pass, 0.02 where it is not said; a larger one fails where a paired bootstrap over tasks finds a gain unlikely (p below 0.05)',
    group: 'Verdict',
  },
  REPORT_OPTION,
];

/** How scores are to be read; see docs/osworld.md. */
export const PROTOCOL_OPTION: OptionSpec = {
  name: 'protocol',
  type: 'string',
  value: 'NAME',
  choices: PROTOCOLS,
  default: 'verified',
  describe:
    'verified scores as OSWorld-Verified does, its known mistakes included; strict repairs them; hard is verified without any FAIL that the policy did not say itself',
  group: 'How',
};

/** For what only OSWorld's own code can do. */
export const BRIDGE_OPTION: OptionSpec = {
  name: 'python-bridge',
  type: 'string',
  value: 'DIR',
  describe:
    'An installed OSWorld (with its .venv), asked for what needs its models or accounts; without it such tasks are unsupported',
  group: 'How',
};

/** What is measured, and how. */
export const RUN_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'policy',
    type: 'string',
    value: 'SPEC',
    describe: 'Policy to measure, as for dart-rollout',
    group: 'What',
  },
  {
    name: 'env',
    type: 'string',
    value: 'SPEC',
    default: 'embedded:8',
    describe: 'Desktops to run on, as for dart-rollout',
    group: 'What',
  },
  {
    name: 'repeats',
    type: 'integer',
    value: 'N',
    default: 8,
    min: 1,
    max: 4096,
    describe: 'Rollouts a task',
    group: 'How',
  },
  { ...TEMPERATURE_OPTION, group: 'How' },
  {
    name: 'max-steps',
    type: 'integer',
    value: 'N',
    default: 15,
    min: 1,
    describe: 'Steps an episode may take; OSWorld is reported at 15, 30, 50 and 100',
    group: 'How',
  },
  PROTOCOL_OPTION,
  BRIDGE_OPTION,
  {
    name: 'fail-at-limit',
    type: 'boolean',
    describe: 'Count the last action at the step limit as FAIL, as some agents do (passes infeasible tasks)',
    group: 'How',
  },
  {
    name: 'workers',
    type: 'integer',
    value: 'N',
    default: 1,
    min: 1,
    max: 1024,
    describe: 'Policy workers that answer the desktops',
    group: 'How',
  },
  {
    name: 'resume',
    type: 'string',
    value: 'FILE',
    describe:
      'Append each rollout to this file as it ends, and do not repeat those that it has a score of: a run that was stopped goes on',
    group: 'How',
  },
  {
    name: 'trajectories',
    type: 'string',
    value: 'FILE',
    describe: 'Also write the trajectories to this file',
    group: 'Output',
  },
  { name: 'blobs', type: 'string', value: 'DIR', describe: 'Folder of the screenshots', group: 'Output' },
];
