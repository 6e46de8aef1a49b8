import { DartError, messageOf } from '../errors.ts';
import type { Trajectory } from '../stream/records.ts';
import type { StoreContext } from './context.ts';
import { addExperience } from './experience.ts';
import { insertTrajectories } from './rollouts.ts';
import type { Spool, SpoolHow } from './spool.ts';
import type { Notify, Steady } from './steady.ts';
import { KeptInFile, StoreTrouble } from './trouble.ts';

/** Trajectories of a spool file that are stored in one transaction. */
const BATCH = 50;

/** Keeps in files what the store could not take, and brings it in when the store is opened again. */
export class Rescue {
  readonly #spool: Spool;
  readonly #notify: Notify;

  constructor(spool: Spool, notify: Notify) {
    this.#spool = spool;
    this.#notify = notify;
  }

  /**
   * Puts trajectories that an operation failed to store into a file.
   * @throws KeptInFile: the error again, with the path; unchanged where it is no trouble of the store.
   */
  async keep(error: unknown, trajectories: readonly Trajectory[], how: SpoolHow): Promise<never> {
    if (!(error instanceof StoreTrouble) || trajectories.length === 0) throw error;
    const many = trajectories.length === 1 ? '1 trajectory' : `${trajectories.length} trajectories`;
    const options = { where: error.where, hint: error.hint, cause: error };
    let path: string;
    try {
      path = await this.#spool.put(trajectories, how);
    } catch (reason) {
      const lost = `${error.message}; ${many} could not be kept either: ${messageOf(reason)}`;
      throw new DartError(lost, options);
    }
    const hint = `${error.hint}; the next command with this store takes the file up`;
    const kept = { path, trajectories: trajectories.length };
    throw new KeptInFile(`${error.message}; ${many} kept in ${path}`, kept, { ...options, hint });
  }

  /** Stores what waits in files, each trajectory once, however often and by whomever this is done. */
  async takeUp(context: StoreContext, steady: Steady): Promise<void> {
    for (const path of this.#spool.waiting()) {
      try {
        const { how, trajectories } = await this.#spool.read(path);
        let added = 0;
        for (let start = 0; start < trajectories.length; start += BATCH) {
          const part = trajectories.slice(start, start + BATCH);
          added += await steady.run(() => store(context, part, how));
        }
        this.#spool.remove(path);
        this.#notify(`took up ${path}: ${trajectories.length} trajectories, ${added} of them new to the store`, 'info');
      } catch (error) {
        if (error instanceof StoreTrouble) throw error;
        this.#notify(`left ${path} as it is: ${messageOf(error)}`, 'warn');
      }
    }
  }
}

function store(context: StoreContext, trajectories: readonly Trajectory[], how: SpoolHow): Promise<number> {
  const options = { experience: how.experience };
  if (how.capacity === null) return insertTrajectories(context, trajectories, options);
  return addExperience(context, trajectories, { ...options, capacity: how.capacity });
}
