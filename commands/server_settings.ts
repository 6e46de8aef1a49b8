import { resolvePath } from '../lib/cli/input.ts';
import type { CommandContext } from '../lib/cli/spec.ts';
import type { Coordinates } from '../lib/policy/policy.ts';
import type { RolloutServers } from '../lib/rollout/open_servers.ts';
import type { UpdateWay } from '../lib/rollout/worker_server.ts';

/** What the options ask of servers. The key comes from the environment alone, and goes into no record and no message. */
export function serverSettings({ io, options }: CommandContext): RolloutServers {
  const number = (name: string) => options[name] as number;
  const text = (name: string) => options[name] as string | undefined;
  const versions = text('versions');
  return {
    apiKey: io.env.DART_API_KEY || io.env.OPENAI_API_KEY || undefined,
    model: text('model'),
    coordinates: text('coordinates') as Coordinates | undefined,
    timeoutMs: number('request-timeout') * 1000,
    retry: { tries: number('request-tries') },
    patienceMs: number('patience') * 1000,
    versions: versions === undefined ? undefined : resolvePath(io, versions),
    update: text('update') as UpdateWay,
    spawn: text('spawn'),
    gpus: text('gpus'),
    startTimeoutMs: number('start-timeout') * 1000,
    env: io.env,
    signal: io.signal,
  };
}
