import { statSync } from 'node:fs';
import { resolvePath } from '../lib/cli/input.ts';
import type { CommandContext } from '../lib/cli/spec.ts';
import { DartError } from '../lib/errors.ts';
import { isServerKind } from '../lib/policy/openai/server_spec.ts';
import type { Coordinates } from '../lib/policy/policy.ts';
import { splitPolicySpec } from '../lib/policy/spec.ts';
import type { RolloutServers } from '../lib/rollout/open_servers.ts';
import type { UpdateWay } from '../lib/rollout/worker_server.ts';

/** Options that say something only of servers, and nothing where they are not given. */
const OF_SERVERS = ['model', 'coordinates', 'versions', 'spawn', 'gpus'] as const;

/**
 * What the options ask of servers. The key comes from the environment alone, and goes into no record and no message.
 * @throws DartError for options that would be ignored, for GPUs that are none, and for a folder that is not there.
 */
export function serverSettings({ io, options }: CommandContext): RolloutServers {
  const number = (name: string) => options[name] as number;
  const text = (name: string) => options[name] as string | undefined;
  const versions = text('versions');
  refuseIgnored(options);
  return {
    apiKey: io.env.DART_API_KEY || io.env.OPENAI_API_KEY || undefined,
    model: text('model'),
    coordinates: text('coordinates') as Coordinates | undefined,
    timeoutMs: number('request-timeout') * 1000,
    retry: { tries: number('request-tries') },
    patienceMs: number('patience') * 1000,
    versions: versions === undefined ? undefined : givenFolder(io, 'versions', versions),
    update: text('update') as UpdateWay,
    spawn: text('spawn'),
    gpus: text('gpus'),
    startTimeoutMs: number('start-timeout') * 1000,
    env: io.env,
    signal: io.signal,
  };
}

function refuseIgnored(options: CommandContext['options']): void {
  const policy = String(options.policy ?? '');
  if (!isServerKind(splitPolicySpec(policy).kind)) {
    const ignored = OF_SERVERS.find((name) => options[name] !== undefined);
    if (ignored === undefined) return;
    throw new DartError(`it says something of servers, and the policy ${policy} has none`, {
      where: `--${ignored}`,
      hint: '--policy openai:URL or sglang:URL, or leave it out',
    });
  }
  if (options.gpus === undefined) return;
  if (options.spawn === undefined) {
    throw new DartError('GPUs are chosen for servers that this command starts', {
      where: '--gpus',
      hint: '--spawn COMMAND',
    });
  }
  const strange = String(options.gpus)
    .split(',')
    .find((gpu) => !GPU.test(gpu.trim()));
  if (strange === undefined) return;
  throw new DartError(`"${strange}" is no GPU`, {
    where: '--gpus',
    hint: '0,1,2, or the names that nvidia-smi -L lists',
  });
}

/** As CUDA_VISIBLE_DEVICES takes them. */
const GPU = /^(?:\d+|(?:GPU|MIG)-[\w/-]+)$/;

/**
 * The folder that an option names.
 * @throws DartError where it is not there.
 */
export function givenFolder(io: CommandContext['io'], option: string, path: string): string {
  const folder = resolvePath(io, path);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return folder;
  const what = found ? 'it is no folder' : 'there is no such folder';
  throw new DartError(what, { where: `--${option} ${path}`, hint: `the path, from ${io.cwd}` });
}
