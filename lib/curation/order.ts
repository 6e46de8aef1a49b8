import { hash32 } from '../stream/random.ts';
import type { Trajectory } from '../stream/records.ts';

/** Oldest first: by the time it finished, then by its place in the group. */
export function byAge(a: Trajectory, b: Trajectory): number {
  if (a.finished_at !== b.finished_at) return Date.parse(a.finished_at) - Date.parse(b.finished_at);
  return a.rollout_index - b.rollout_index;
}

/** A shuffle that depends on nothing but the names: the same group is shuffled the same way in every run. */
export function shuffledBy<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, name: nameOf(item), key: hash32(nameOf(item)) }))
    .sort((a, b) => a.key - b.key || (a.name < b.name ? -1 : 1))
    .map(({ item }) => item);
}
