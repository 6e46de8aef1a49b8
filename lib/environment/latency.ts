import type { AccessibleNode, Action, Frame, Guest, ResettableGuest } from '../guest/guest.ts';
import { Random } from '../stream/random.ts';
import { delay } from './waiting.ts';

export interface LatencyModel {
  /** Median time of one action, of a reset, of a screenshot, in milliseconds. */
  actionMs: number;
  resetMs: number;
  screenshotMs: number;
  /** Standard deviation of the logarithm of each time; 0 makes all the same. */
  jitter: number;
}

/**
 * A desktop that takes as long as a real one (design §5), for measurements of the whole system. Times are log-normal
 * and given by the desktop's id alone. Everything else is the desktop's own.
 */
export function withLatency(guest: ResettableGuest, model: LatencyModel): ResettableGuest {
  const random = new Random(`latency/${guest.id}`);
  const pause = (ms: number) => (ms === 0 ? Promise.resolve() : delay(ms * Math.exp(model.jitter * random.gaussian())));
  const slow: Partial<ResettableGuest> = {
    async act(action: Action): Promise<void> {
      await pause(model.actionMs);
      return guest.act(action);
    },
    async reset(seed: number): Promise<void> {
      await pause(model.resetMs);
      return guest.reset(seed);
    },
    async screenshot(): Promise<Frame> {
      await pause(model.screenshotMs);
      return guest.screenshot();
    },
    async accessibility(): Promise<AccessibleNode> {
      await pause(model.screenshotMs);
      return guest.accessibility();
    },
  };
  return new Proxy(guest, {
    get(target, name) {
      const own = slow[name as keyof Guest];
      if (own !== undefined) return own;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
