import { Rejections } from './rejections.ts';
import type { SelectedGroup } from './selection.ts';

/** What makes an update: steps, or groups where `batchGroups` says how many. */
export interface BatchSize {
  batchSamples: number;
  batchGroups: number | null;
}

/** Groups taken in since the last update. */
export class Pending {
  groups: SelectedGroup[] = [];
  /** Ids of groups of which no step could be used. */
  useless: string[] = [];
  /** These, and what dart-curate left out. */
  readonly rejections = new Rejections();
  /** Spent on selection. */
  seconds = 0;
  waited = 0;

  /** Selected ones. */
  get steps(): number {
    return this.groups.reduce((sum, group) => sum + group.kept.length, 0);
  }

  get groupIds(): string[] {
    return [...this.groups.map((group) => group.groupId), ...this.useless];
  }

  leaveOut(closed: ReadonlySet<string>): void {
    this.groups = this.groups.filter((group) => !closed.has(group.groupId));
    this.useless = this.useless.filter((id) => !closed.has(id));
  }

  /** How full the batch is; 1 or more is full. */
  share({ batchSamples, batchGroups }: BatchSize): number {
    if (this.steps === 0) return 0;
    return batchGroups === null ? this.steps / batchSamples : this.groups.length / batchGroups;
  }

  /** How full it is, for people. */
  describe({ batchSamples, batchGroups }: BatchSize): string {
    return batchGroups === null
      ? `${this.steps} of ${batchSamples} steps`
      : `${this.groups.length} of ${batchGroups} groups`;
  }
}
