import { CompiledQuery, type Insertable } from 'kysely';
import type { StoreContext } from './context.ts';
import type { StoreDialect } from './dialect.ts';
import type { StoreTables } from './schema.ts';

/** Texts of statements by table and number of rows: of each dialect object, since their words differ. */
const texts = new WeakMap<StoreDialect, Map<string, string>>();

/**
 * Inserts rows whose key is new into one table, all columns given. Kysely writes the text of such a statement once for
 * each number of rows: to have it build the tree anew for each hundred values costs more than running it.
 */
export class BulkInsert<T extends keyof StoreTables> {
  readonly #table: T;
  readonly #columns: readonly (keyof Insertable<StoreTables[T]> & keyof StoreTables[T] & string)[];

  constructor(table: T, columns: readonly (keyof Insertable<StoreTables[T]> & keyof StoreTables[T] & string)[]) {
    this.#table = table;
    this.#columns = columns;
  }

  /** @returns how many rows were new. So few rows that one statement can take them. */
  async ignoreDuplicates(context: StoreContext, rows: readonly Insertable<StoreTables[T]>[]): Promise<number> {
    let fresh = 0;
    for (let start = 0; start < rows.length; ) {
      const count = context.dialect.keepsStatements ? powerUpTo(rows.length - start) : rows.length;
      const parameters: unknown[] = [];
      for (let i = start; i < start + count; i++) {
        for (const column of this.#columns) parameters.push(rows[i]![column]);
      }
      const result = await context.db.executeQuery(CompiledQuery.raw(this.#text(context, count), parameters));
      fresh += Number(result.numAffectedRows ?? 0);
      start += count;
    }
    return fresh;
  }

  #text({ db, dialect }: StoreContext, count: number): string {
    const known = texts.get(dialect) ?? new Map<string, string>();
    texts.set(dialect, known);
    const key = `${this.#table} ${count}`;
    let text = known.get(key);
    if (text === undefined) {
      const row = Object.fromEntries(this.#columns.map((column) => [column, null]));
      const insert = db.insertInto(this.#table).values(Array(count).fill(row) as never);
      text = dialect.ignoreDuplicates(insert, this.#columns[0]!).compile().sql;
      known.set(key, text);
    }
    return text;
  }
}

/** The largest power of two that is not larger: pieces of few sizes, so that the same texts come again. */
function powerUpTo(count: number): number {
  return 2 ** Math.floor(Math.log2(count));
}
