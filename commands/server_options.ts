import type { OptionSpec } from '../lib/cli/spec.ts';

/** Options of policies behind servers (`openai:`, `sglang:`), the same for every command that asks one. */
export const SERVER_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'model',
    type: 'string',
    value: 'NAME',
    describe: 'Model that the servers are asked for (default: the first that they list); the {model} of --spawn',
  },
  {
    name: 'coordinates',
    type: 'string',
    value: 'HOW',
    choices: ['absolute', 'relative', 'smart-resize'],
    describe:
      'How the model writes places: pixels of the screen, thousandths (UI-TARS 1.0), pixels after smart-resize (UI-TARS 1.5; the default, unless the server says otherwise)',
  },
  {
    name: 'request-timeout',
    type: 'number',
    value: 'S',
    default: 100,
    min: 0.01,
    max: 300,
    describe: 'How long one try of a request may take',
  },
  {
    name: 'request-tries',
    type: 'integer',
    value: 'N',
    default: 3,
    min: 1,
    describe: 'How often one server is asked where it is busy or its answer is not whole; then another one is, once',
  },
  {
    name: 'patience',
    type: 'number',
    value: 'S',
    default: 300,
    min: 0,
    describe: 'While no server answers, how long rollouts wait for one to come back before the run ends',
  },
  {
    name: 'versions',
    type: 'string',
    value: 'DIR',
    describe: 'Load the versions of this published directory into the servers as they come (else those of --store)',
  },
  {
    name: 'update',
    type: 'string',
    value: 'HOW',
    choices: ['auto', 'restart', 'off'],
    default: 'auto',
    describe: "How a server takes a version: its engine's own way, by being started again with it (--spawn), or never",
  },
  {
    name: 'spawn',
    type: 'string',
    value: 'COMMAND',
    describe:
      "Start the servers with this command, one on each GPU, and stop them in the end: 'vllm serve {model} --port {port}'",
  },
  {
    name: 'gpus',
    type: 'string',
    value: 'LIST',
    describe:
      'GPUs to start servers on, 0,1,2; each sees its own as CUDA_VISIBLE_DEVICES (default: that variable, or one server)',
  },
  {
    name: 'start-timeout',
    type: 'number',
    value: 'S',
    default: 600,
    min: 1,
    describe: 'How long a started server may take until it answers',
  },
].map((option) => ({ ...option, group: 'Servers' }) as OptionSpec);
