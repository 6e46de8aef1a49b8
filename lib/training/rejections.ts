import { counted } from '../stream/counted.ts';
import type { AnyRecord } from '../stream/records.ts';
import type { TrainMetrics } from './metrics.ts';

/** Why nothing is learned from a group: what dart-curate says in its `group_rejected` events, and `unspelt` here. */
const REASONS = [
  'all_failed',
  'all_succeeded',
  'no_variance',
  'no_success_stored',
  'too_few_scored',
  'stale',
  'unspelt',
  'other',
] as const;
type Reason = (typeof REASONS)[number];

/** The reason that an event of dart-curate gives for a group that it left out; null for every other record. */
export function rejectionOf(record: AnyRecord): string | null {
  if (record.type !== 'event' || record.event !== 'group_rejected') return null;
  return typeof record.reason === 'string' ? record.reason : 'other';
}

/** Counts groups by the reason why nothing is learned from them. */
export class Rejections {
  readonly #counts = new Map<Reason, number>();

  add(reason: string): void {
    const known = REASONS.find((each) => each === reason) ?? 'other';
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** `2 groups unspelt, 1 group stale`. */
  describe(): string {
    return [...this.#counts].map(([reason, count]) => `${counted(count, 'group')} ${reason}`).join(', ');
  }

  metrics(): TrainMetrics {
    const each = REASONS.map((reason) => [`train/groups_rejected/${reason}`, this.#counts.get(reason) ?? 0] as const);
    return { 'train/groups_rejected': this.total, ...Object.fromEntries(each) };
  }
}
