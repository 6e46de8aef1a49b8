import { DartError, messageOf } from '../errors.ts';
import type { Trajectory } from '../stream/records.ts';
import type { StoreContext } from './context.ts';
import { addExperience } from './experience.ts';
import { insertTrajectories } from './rollouts.ts';
import type { Spool, SpoolHow } from './spool.ts';
import type { Notify, Steady } from './steady.ts';
import { KeptInFile, StoreTrouble } from './trouble.ts';

/** Takes rollouts that nobody has printed; resolves with how many of them it printed. */
export type HandOn = (trajectories: readonly Trajectory[]) => Promise<number>;

interface Taken {
  all: number;
  /** Those that the store did not have. */
  fresh: Trajectory[];
  unprinted: boolean;
}

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
    const options = { where: error.where, hint: error.hint, cause: error };
    let path: string;
    try {
      path = await this.#spool.put(trajectories, how);
    } catch (reason) {
      const lost = `${error.message}; ${many(trajectories.length)} could not be kept either: ${messageOf(reason)}`;
      throw new DartError(lost, options);
    }
    const hint = `${error.hint}; the next command with this store takes the file up`;
    const kept = { path, trajectories: trajectories.length };
    throw new KeptInFile(`${error.message}; ${many(trajectories.length)} kept in ${path}`, kept, { ...options, hint });
  }

  /**
   * Stores what waits in files, each trajectory once, however often and by whomever this is done.
   * @param handOn See OpenOptions.
   */
  async takeUp(context: StoreContext, steady: Steady, handOn: HandOn): Promise<void> {
    for (const path of this.#spool.waiting()) {
      const taken = await this.#take(path, context, steady);
      if (taken === null) continue;
      const { all, fresh, unprinted } = taken;
      const handed = unprinted ? await handOn(fresh) : fresh.length;
      this.#notify(
        `took up ${path}: ${many(all)}, ${fresh.length} of them new to the store${missing(fresh.length - handed)}`,
        'info',
      );
    }
  }

  /** Null where it has to be left. */
  async #take(path: string, context: StoreContext, steady: Steady): Promise<Taken | null> {
    try {
      const { how, trajectories } = await this.#spool.read(path);
      const fresh: Trajectory[] = [];
      // One by one, so that of two processes that do this only one hands a trajectory on.
      for (const trajectory of trajectories) {
        if ((await steady.run(() => store(context, [trajectory], how))) > 0) fresh.push(trajectory);
      }
      this.#spool.remove(path);
      return { all: trajectories.length, fresh, unprinted: how.unprinted };
    } catch (error) {
      if (error instanceof StoreTrouble) throw error;
      this.#notify(`left ${path} as it is: ${messageOf(error)}`, 'warn');
      return null;
    }
  }
}

function many(trajectories: number): string {
  return trajectories === 1 ? '1 trajectory' : `${trajectories} trajectories`;
}

function missing(trajectories: number): string {
  if (trajectories === 0) return '';
  return `; no output of dart-rollout has ${many(trajectories)} of these: dart-curate --from-store reads them`;
}

function store(context: StoreContext, trajectories: readonly Trajectory[], how: SpoolHow): Promise<number> {
  const options = { experience: how.experience };
  if (how.capacity === null) return insertTrajectories(context, trajectories, options);
  return addExperience(context, trajectories, { ...options, capacity: how.capacity });
}
