import { type Kysely, sql } from 'kysely';
import type { StoreDialect } from '../dialect.ts';
import type { StoreTables } from '../schema.ts';
import { makeIndices } from './indices.ts';

/**
 * Desktops belong to the process that holds them: two rollout commands of one run have desktops of the same names. And
 * an index for counting a run's groups. Each statement may be found done by a migration that was cut off.
 */
export async function addOwners(db: Kysely<StoreTables>, dialect: StoreDialect): Promise<void> {
  const c = dialect.columns;
  const tables = await db.introspection.getTables();
  const before = tables.find((table) => table.name === 'environment');
  if (before?.columns.some((column) => column.name === 'owner')) return;
  await makeIndices(db, dialect, [['group_run', 'training_group', ['run_id', 'state']]]);
  if (before) {
    await db.schema
      .createTable('environment_of_owner')
      .ifNotExists()
      .addColumn('run_id', c.key, (col) => col.notNull())
      .addColumn('owner', c.key, (col) => col.notNull())
      .addColumn('env_id', c.key, (col) => col.notNull())
      .addColumn('driver', c.text, (col) => col.notNull())
      .addColumn('state', c.word, (col) => col.notNull())
      .addColumn('server_url', c.text)
      .addColumn('screen_width', c.integer, (col) => col.notNull())
      .addColumn('screen_height', c.integer, (col) => col.notNull())
      .addColumn('boot_ms', c.real, (col) => col.notNull())
      .addColumn('failures', c.integer, (col) => col.notNull())
      .addColumn('updated_at', c.time, (col) => col.notNull())
      .addPrimaryKeyConstraint('environment_of_owner_key', ['run_id', 'owner', 'env_id'])
      .addForeignKeyConstraint('environment_of_owner_run', ['run_id'], 'run', ['run_id'])
      .execute();
    await sql`delete from environment_of_owner`.execute(db);
    const columns = sql.raw(COPIED.join(', '));
    await sql`insert into environment_of_owner (owner, ${columns}) select '', ${columns} from environment`.execute(db);
    await db.schema.dropTable('environment').execute();
  }
  await db.schema.alterTable('environment_of_owner').renameTo('environment').execute();
}

const COPIED = [
  ...['run_id', 'env_id', 'driver', 'state', 'server_url', 'screen_width', 'screen_height', 'boot_ms', 'failures'],
  'updated_at',
];
