import { type Env, SCHEMA_VERSION } from '../stream/records.ts';
import type { Environment } from './environment.ts';

/** What a record says of a desktop beside what the desktop says of itself. */
export type EnvDetails = Partial<Pick<Env, 'run_id' | 'resets' | 'replace_url' | 'server_url'>> & { boot_ms: number };

/** A desktop as a record. */
export function envRecord(environment: Environment, state: Env['state'], details: EnvDetails): Env {
  const { id, driver, guest, serverUrl = null, cdpUrl = null, vlcUrl = null, vncUrl = null } = environment;
  return {
    ...{ type: 'env', v: SCHEMA_VERSION, env_id: id, driver, state },
    ...{ server_url: serverUrl, cdp_url: cdpUrl, vlc_url: vlcUrl, vnc_url: vncUrl },
    screen: { ...guest.screen },
    ...(serverUrl === null ? {} : { waits: secondsOf(environment) }),
    ...details,
    boot_ms: Math.round(details.boot_ms * 10) / 10,
  };
}

function secondsOf({ waits }: Environment): NonNullable<Env['waits']> {
  const { afterResetMs, afterActionMs, beforeEvaluateMs } = waits;
  return {
    after_reset_s: afterResetMs / 1000,
    after_action_s: afterActionMs / 1000,
    before_evaluate_s: beforeEvaluateMs / 1000,
  };
}
