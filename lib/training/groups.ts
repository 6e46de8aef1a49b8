import type { Sample } from '../stream/records.ts';

export interface HeldSample {
  sample: Sample;
  where: string;
}

export interface WholeGroup {
  groupId: string;
  samples: HeldSample[];
}

/**
 * Brings the samples of each group together. A group is whole when `group_steps` different steps of it have come; until
 * then it is held. A step that comes twice counts once (the pipe delivers at least once); a group that comes again with
 * another `group_steps` was formed anew, and what was held of it is let go.
 */
export class GroupGatherer {
  readonly #held = new Map<string, Map<string, HeldSample>>();
  /** Groups not to be taken again: learned from, or rejected. */
  readonly #settled: Set<string>;
  /** Samples of settled groups that came again and were left out. */
  repeated = 0;
  /** Groups that were formed anew while they were held. */
  reformed = 0;

  constructor(settled: Iterable<string> = []) {
    this.#settled = new Set(settled);
  }

  /** The group, if this sample made it whole. Its id is settled from then on. */
  add(sample: Sample, where: string): WholeGroup | null {
    const { group_id: groupId, group_steps: size } = sample;
    if (this.#settled.has(groupId)) {
      this.repeated += 1;
      return null;
    }
    const members = this.#members(groupId, size);
    members.set(`${sample.trajectory_id}\n${sample.step_index}`, { sample, where });
    if (members.size < size) return null;
    this.#held.delete(groupId);
    this.#settled.add(groupId);
    return { groupId, samples: [...members.values()] };
  }

  /** Groups that are not whole, with how many steps they have and need. */
  held(): { groupId: string; have: number; need: number }[] {
    return [...this.#held].map(([groupId, members]) => ({
      groupId,
      have: members.size,
      need: members.values().next().value?.sample.group_steps ?? 0,
    }));
  }

  #members(groupId: string, size: number): Map<string, HeldSample> {
    const found = this.#held.get(groupId);
    const first = found?.values().next().value;
    if (found && first?.sample.group_steps === size) return found;
    if (found) this.reformed += 1;
    const fresh = new Map<string, HeldSample>();
    this.#held.set(groupId, fresh);
    return fresh;
  }
}
