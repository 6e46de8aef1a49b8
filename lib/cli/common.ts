import type { OptionSpec } from './spec.ts';

/** Options that every command has; spread into its table. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: 'seed', type: 'integer', value: 'N', min: 0, describe: 'Seed of everything random', group: 'General' },
  {
    name: 'on-error',
    type: 'string',
    value: 'WHAT',
    choices: ['fail', 'skip'],
    default: 'fail',
    describe: 'What a record that cannot be read does: end the command, or be left out and counted',
    group: 'General',
  },
  {
    name: 'config',
    type: 'string',
    value: 'FILE',
    describe: 'JSON file with option values (default: $XDG_CONFIG_HOME/dart/config.json where it exists)',
    group: 'General',
  },
  {
    name: 'print-config',
    type: 'boolean',
    describe: 'Print each option with its value and where it came from, and do nothing',
    group: 'General',
  },
  {
    name: 'quiet',
    alias: 'q',
    type: 'boolean',
    describe: 'No progress and no notes on stderr; warnings and errors stay',
    group: 'General',
  },
  {
    name: 'log-level',
    type: 'string',
    value: 'LEVEL',
    choices: ['error', 'warn', 'info', 'debug'],
    default: 'info',
    describe: 'How much to tell on stderr; debug adds stack traces',
    group: 'General',
  },
  {
    name: 'log-format',
    type: 'string',
    value: 'FORMAT',
    choices: ['text', 'json'],
    default: 'text',
    describe: 'Messages on stderr as text, or one JSON object a line',
    group: 'General',
  },
];

/** For commands that can tell what they would do. `openOutput` makes no file then. */
export const DRY_RUN_OPTION: OptionSpec = {
  name: 'dry-run',
  type: 'boolean',
  describe: 'Say what would be done, and do nothing',
  group: 'General',
};

/** For commands whose records may go to a file. */
export const OUTPUT_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'output',
    alias: 'o',
    type: 'string',
    value: 'FILE',
    default: '-',
    describe: 'Write the records to this file, whole or not at all; missing folders are made; - is standard output',
    group: 'Output',
  },
  { name: 'table', type: 'boolean', describe: 'Also print a table on stderr', group: 'Output' },
];

/** For commands that make one file. */
export const OUTPUT_FILE: OptionSpec = {
  name: 'output',
  alias: 'o',
  type: 'string',
  value: 'FILE',
  required: true,
  describe: 'File to write, whole or not at all; missing folders are made',
};
