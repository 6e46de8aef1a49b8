import { DartError } from '../errors.ts';
import { acknowledgeLearned, type Overruled } from './closed.ts';
import { inTransaction, type StoreContext } from './context.ts';
import { ensureRuns } from './parents.ts';

export interface PublishedVersion {
  run_id: string;
  version: number;
  path: string;
}

export interface NewVersion extends PublishedVersion {
  /** Groups that this version was learned from. */
  groups: readonly string[];
  metrics?: Readonly<Record<string, unknown>>;
}

export interface Publication {
  /** False where the version was there already. */
  isNew: boolean;
  /** Groups of it that somebody had closed in the meantime. */
  overruled: Overruled[];
}

/**
 * Publishes a model version and acknowledges the groups that it was learned from, in one transaction: either both
 * happened or neither. The same version at the same path again is no error and changes nothing.
 * @throws DartError where the run has this version at another path: two trainers are at work on one run.
 */
export function publishVersion(context: StoreContext, version: NewVersion): Promise<Publication> {
  return inTransaction(context, async (inner) => {
    const { db, dialect, now } = inner;
    await ensureRuns(inner, [version.run_id]);
    // One trainer of a run after the other.
    await dialect
      .lockRows(db.selectFrom('run').select('run_id').where('run_id', '=', version.run_id))
      .executeTakeFirst();
    const existing = await db
      .selectFrom('model_version')
      .select('path')
      .where('run_id', '=', version.run_id)
      .where('version', '=', version.version)
      .executeTakeFirst();
    if (existing && existing.path !== version.path) {
      throw new DartError(`version ${version.version} is already published at ${existing.path}`, {
        where: `run ${version.run_id}`,
        hint: 'one trainer a run, or another run id',
      });
    }
    const overruled = await acknowledgeLearned(inner, version.groups, version.version);
    if (existing) return { isNew: false, overruled };
    const row = {
      run_id: version.run_id,
      version: version.version,
      path: version.path,
      metrics_json: version.metrics ? JSON.stringify(version.metrics) : null,
      created_at: now(),
    };
    await db.insertInto('model_version').values(row).execute();
    return { isNew: true, overruled };
  });
}

/** The newest version of a run (or, without one, the one published last of all), or null. */
export async function latestVersion({ db }: StoreContext, runId?: string): Promise<PublishedVersion | null> {
  const query = db.selectFrom('model_version').select(['run_id', 'version', 'path']).limit(1);
  const row =
    runId === undefined
      ? await query.orderBy('created_at', 'desc').orderBy('version', 'desc').executeTakeFirst()
      : await query.where('run_id', '=', runId).orderBy('version', 'desc').executeTakeFirst();
  return row ?? null;
}
