import type { LatencyModel, LatencyOptions } from '../desktop/latency.ts';
import { NO_WAITS, type ProtocolWaits } from './environment.ts';
import type { DriverKind, KindOption, KindValues } from './kind.ts';

/** A day. Node's own timers, which desktops here wait with, take 25 of them. */
const MOST_MS = 86_400_000;

const time = (name: string, describe: string): KindOption => {
  return { name, type: 'number', value: 'MS', default: 0, min: 0, max: MOST_MS, describe };
};

/** Desktops in this process. */
export const embeddedKind: DriverKind = {
  name: 'embedded',
  summary: 'Small desktops in this process, ready at once',
  options: [
    time('latency', 'How long an action takes'),
    time('reset', 'How long a reset takes'),
    time('evaluate', 'How long an evaluation takes'),
    {
      name: 'jitter',
      type: 'number',
      value: 'SHARE',
      default: 0,
      min: 0,
      max: 1,
      describe: 'Share by which these times vary',
    },
  ],
  detachable: 'they live in the process that started them',
  open: async (count, values) => {
    const { createEmbeddedGuest } = await import('../desktop/guest.ts');
    const { LatencyModel } = await import('../desktop/latency.ts');
    const { EmbeddedDriver } = await import('./embedded.ts');
    const latency = latencyOf(values);
    return new EmbeddedDriver(
      count,
      (id, place) => createEmbeddedGuest(id, { ...latency, seed: place }),
      (place) => evaluationWait(new LatencyModel({ ...latency, seed: place })),
    );
  },
};

/** How slow they are; all zero unless asked for. */
function latencyOf({ latency, reset, evaluate, jitter }: KindValues): Required<Omit<LatencyOptions, 'seed'>> {
  return {
    stepMs: latency as number,
    resetMs: reset as number,
    evaluateMs: evaluate as number,
    jitter: jitter as number,
  };
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
