import { unpackTrajectory } from '../store/codec.ts';
import type { Store } from '../store/index.ts';
import type { ReadRecord } from '../stream/reader.ts';

/** How far the rollouts of a store have been read. */
export interface StorePlace {
  rollout_seq: number;
  /**
   * Numbers below it that were missing: MySQL hands them out when a transaction begins, so a lower one may appear later.
   * `looks` is how often each has been looked for.
   */
  gaps: { seq: number; looks: number }[];
}

const PAGE = 50;
/** A number that has been missing this often belongs to nobody. */
const MAX_LOOKS = 5;
const MAX_GAPS = 1000;

/**
 * The trajectories of a store in order of arrival, from `place` to the newest at this moment; demonstrations and imports
 * are none. Afterwards `next` says where to go on.
 */
export class StoreInput {
  readonly #store: Store;
  readonly #place: StorePlace;
  #next: StorePlace;

  constructor(store: Store, place: StorePlace) {
    this.#store = store;
    this.#place = place;
    this.#next = place;
  }

  get next(): StorePlace {
    return this.#next;
  }

  async *batches(): AsyncGenerator<ReadRecord[], void, void> {
    const found = new Set<number>();
    const wanted = this.#place.gaps.map((gap) => gap.seq);
    if (wanted.length > 0) {
      const late = await this.#read((query) => query.where('rollout_seq', 'in', wanted));
      for (const { seq } of late) found.add(seq);
      yield* nonEmpty(late);
    }
    const last = await this.#last();
    for (let seq = this.#place.rollout_seq; seq < last; ) {
      const from = seq;
      const page = await this.#read((query) =>
        query.where('rollout_seq', '>', from).where('rollout_seq', '<=', last).limit(PAGE),
      );
      for (const row of page) found.add(row.seq);
      yield* nonEmpty(page);
      seq = page.length < PAGE ? last : page.at(-1)!.seq;
    }
    this.#next = { rollout_seq: Math.max(last, this.#place.rollout_seq), gaps: this.#gaps(found, last) };
  }

  #gaps(found: ReadonlySet<number>, last: number): StorePlace['gaps'] {
    const gaps = this.#place.gaps
      .filter((gap) => !found.has(gap.seq) && gap.looks < MAX_LOOKS)
      .map((gap) => ({ seq: gap.seq, looks: gap.looks + 1 }));
    const first = Math.max(this.#place.rollout_seq + 1, last - MAX_GAPS);
    for (let seq = first; seq <= last; seq++) if (!found.has(seq)) gaps.push({ seq, looks: 1 });
    return gaps.slice(-MAX_GAPS);
  }

  async #last(): Promise<number> {
    const row = await this.#store.query((db) =>
      db
        .selectFrom('rollout')
        .select((eb) => eb.fn.max('rollout_seq').as('last'))
        .executeTakeFirst(),
    );
    return Number(row?.last ?? 0);
  }

  async #read(narrow: (query: RolloutQuery) => RolloutQuery) {
    const rows = await this.#store.query((db) => narrow(selectRollouts(db)).execute());
    return rows.map((row) => ({
      seq: Number(row.rollout_seq),
      isExperience: row.standing === 'experience',
      read: {
        line: Number(row.rollout_seq),
        record: unpackTrajectory(row.record, row.trajectory_id),
        where: `rollout ${row.rollout_seq}`,
      },
    }));
  }
}

type RolloutQuery = ReturnType<typeof selectRollouts>;

function selectRollouts(db: Store['db']) {
  return db.selectFrom('rollout').select(['rollout_seq', 'trajectory_id', 'standing', 'record']).orderBy('rollout_seq');
}

function* nonEmpty(rows: readonly { isExperience: boolean; read: ReadRecord }[]) {
  const batch = rows.filter((row) => !row.isExperience).map((row) => row.read);
  if (batch.length > 0) yield batch;
}
