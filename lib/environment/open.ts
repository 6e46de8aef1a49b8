import type { LatencyModel, LatencyOptions } from '../desktop/latency.ts';
import { DartError } from '../errors.ts';
import type { Env } from '../stream/records.ts';
import { AttachDriver } from './attach.ts';
import { EmbeddedDriver } from './embedded.ts';
import { type Driver, NO_WAITS, type ProtocolWaits } from './environment.ts';
import { EnvironmentPool, type PoolOptions } from './pool.ts';

export interface EmbeddedSpec {
  driver: 'embedded';
  count: number;
  /** How slow they are; all zero unless asked for. */
  latency: Required<Omit<LatencyOptions, 'seed'>>;
}

const EXAMPLE = 'embedded:4, or embedded:4,latency=300,jitter=0.5,reset=2000,evaluate=500';
/** Options of `embedded:N,…` and the field that each sets. */
const LATENCY_OPTIONS: Readonly<Record<string, keyof EmbeddedSpec['latency']>> = {
  latency: 'stepMs',
  jitter: 'jitter',
  reset: 'resetMs',
  evaluate: 'evaluateMs',
};

/**
 * `embedded:N[,latency=MS][,jitter=0..1][,reset=MS][,evaluate=MS]` in parts.
 * @throws DartError on an unknown driver, a count below 1, an unknown option or a negative time.
 */
export function parseEnvironmentSpec(spec: string): EmbeddedSpec {
  const [head = '', ...options] = spec.split(',');
  const [driver = '', count = '', ...rest] = head.split(':');
  if (driver !== 'embedded' || rest.length > 0) {
    throw new DartError(`unknown desktops "${spec}"`, { where: '--env', hint: EXAMPLE });
  }
  if (!/^[1-9]\d{0,4}$/.test(count)) {
    throw new DartError(`"${head}" does not say how many desktops`, { where: '--env', hint: EXAMPLE });
  }
  return { driver, count: Number(count), latency: parseLatency(options) };
}

function parseLatency(options: readonly string[]): EmbeddedSpec['latency'] {
  const model = { stepMs: 0, resetMs: 0, evaluateMs: 0, jitter: 0 };
  for (const option of options) {
    const [name = '', value = ''] = option.split('=');
    const field = Object.hasOwn(LATENCY_OPTIONS, name) ? LATENCY_OPTIONS[name] : undefined;
    if (!field || !/^\d+(\.\d+)?$/.test(value) || (field === 'jitter' && Number(value) > 1)) {
      throw new DartError(`cannot read "${option}"`, { where: '--env', hint: EXAMPLE });
    }
    model[field] = Number(value);
  }
  return model;
}

/** The driver of a specification; the embedded desktop is loaded only here. */
export async function openDriver(spec: string): Promise<Driver> {
  const { count, latency } = parseEnvironmentSpec(spec);
  const { createEmbeddedGuest } = await import('../desktop/guest.ts');
  const { LatencyModel } = await import('../desktop/latency.ts');
  return new EmbeddedDriver(
    count,
    (id, place) => createEmbeddedGuest(id, { ...latency, seed: place }),
    (place) => evaluationWait(new LatencyModel({ ...latency, seed: place })),
  );
}

/** A wait before each evaluation, which takes its time on a real desktop too. */
function evaluationWait(model: LatencyModel): ProtocolWaits {
  return {
    ...NO_WAITS,
    get beforeEvaluateMs() {
      return model.evaluation();
    },
  };
}

/**
 * The desktops that a specification names (`embedded:4`), or those that env records describe. They start, and are
 * connected to, after this has resolved.
 * @throws DartError on a specification or a record that cannot be used.
 */
export async function openEnvironments(
  desktops: string | readonly Env[],
  options: PoolOptions = {},
): Promise<EnvironmentPool> {
  const driver = typeof desktops === 'string' ? await openDriver(desktops) : await attachDriver(desktops);
  return new EnvironmentPool([driver], options);
}

async function attachDriver(envs: readonly Env[]): Promise<Driver> {
  const { connectResettable, HttpGuest } = await import('../guest/http_client.ts');
  // Only our own server can reset its desktop.
  const connect = ({ driver, env_id: id, server_url }: Env) =>
    driver === 'embedded' ? connectResettable(server_url!, { id }) : HttpGuest.connect(server_url!, { id });
  return new AttachDriver(envs, connect);
}
