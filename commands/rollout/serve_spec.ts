import { COMMON_OPTIONS, DRY_RUN_OPTION } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';
import { SERVER_OPTIONS } from '../server_options.ts';
import { SYNC_OPTIONS, WORKER_OPTIONS } from './worker_options.ts';

const SERVICE: readonly OptionSpec[] = [
  {
    name: 'policy',
    type: 'string',
    required: true,
    value: 'SPEC',
    describe:
      'Policy: onnx:FILE, onnx:DIR (its newer versions are followed), openai:URL[,URL…], sglang:URL[,URL…], random, fixed:…',
  },
  { name: 'host', type: 'string', value: 'HOST', default: '127.0.0.1', describe: 'Address to listen on' },
  {
    name: 'port',
    type: 'integer',
    value: 'PORT',
    default: 8100,
    min: 0,
    max: 65_535,
    describe: 'Port to listen on; 0 takes any that is free',
  },
  {
    name: 'token',
    type: 'string',
    value: 'FILE',
    describe: 'File with the token that requests must bear; without one only loopback is listened on',
  },
  {
    name: 'updates',
    type: 'boolean',
    describe:
      'Load versions that clients name (POST /update_weights_from_disk), from any folder that this process can read',
  },
  {
    name: 'max-requests',
    type: 'integer',
    value: 'N',
    default: 1024,
    min: 1,
    describe: 'Requests at once; more are told to come again later',
  },
  {
    name: 'grace',
    type: 'number',
    value: 'S',
    default: 5,
    min: 0,
    describe: 'When interrupted, how long requests under way may take to end',
  },
].map((option) => ({ ...option, group: 'Service' }) as OptionSpec);

const WORKERS = [...WORKER_OPTIONS, ...SYNC_OPTIONS].map((option) => ({ ...option, group: 'Workers' }) as OptionSpec);

/** `dart-rollout serve`: the worker pool as one endpoint. */
export const serve: CommandSpec = {
  name: 'serve',
  summary: 'Offer a policy to others as one server of chat completions',
  description: [
    'Puts the worker pool behind one endpoint that speaks OpenAI’s chat completions: /v1/chat/completions (streamed or not, with log-probabilities and token ids as vLLM gives them), /v1/models, /health, and /metrics for Prometheus. The last screenshot of the messages is acted on; docs/inference-servers.md says how messages are read.',
    'Prints an event record when it listens, and a summary when it was stopped.',
  ].join('\n\n'),
  options: [...SERVICE, ...WORKERS, ...SERVER_OPTIONS, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  examples: [
    {
      command: 'dart-rollout serve --policy onnx:fixtures/policies/base.onnx',
      describe: 'the embedded policy, for the tools of others',
    },
    {
      command:
        'dart-rollout serve --policy openai:http://gpu1:8000/v1,http://gpu2:8000/v1 --host 0.0.0.0 --token token.txt',
      describe: 'two servers behind one address',
    },
  ],
  run: async (context) => (await import('./serve.ts')).run(context),
};
