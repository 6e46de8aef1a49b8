import type { StoreContext } from './context.ts';

/** Where a named, repeated job ended last time; null before its first end. */
export async function readCursor<T>({ db }: StoreContext, name: string): Promise<T | null> {
  const row = await db.selectFrom('cursor').select('value_json').where('name', '=', name).executeTakeFirst();
  return row ? (JSON.parse(row.value_json) as T) : null;
}

/** Keeps a JSON value under a name, in place of the one before. */
export async function writeCursor({ db, dialect, now }: StoreContext, name: string, value: unknown): Promise<void> {
  const row = { name, value_json: JSON.stringify(value), updated_at: now() };
  await dialect
    .overwriteDuplicates(db.insertInto('cursor').values(row), ['name'], ['value_json', 'updated_at'])
    .execute();
}
