import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from './open.ts';
import { stateFolder } from './url.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'store.md'), 'utf8');

/** What the page says of each table: `column`, `column key`, `column → parent`, `column key → parent`. */
function documented(): Record<string, string[]> {
  const sections = page.split(/^### `(\w+)`$/m).slice(1);
  const tables: Record<string, string[]> = {};
  for (let i = 0; i < sections.length; i += 2) {
    const rows = [...sections[i + 1]!.matchAll(/^\| `(\w+)` \| (.*?) ?\| \S.* \|$/gm)];
    tables[sections[i]!] = rows.map(([, column, key]) => [column, key!.replaceAll('`', '')].filter(Boolean).join(' '));
  }
  return tables;
}

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore('sqlite::memory:');
});
afterAll(() => store.close());

async function actual(): Promise<Record<string, string[]>> {
  const query = async <R>(sql: string) => (await store.db.executeQuery<R>(CompiledQuery.raw(sql))).rows;
  const tables: Record<string, string[]> = {};
  for (const { name } of await store.db.introspection.getTables()) {
    const parents = await query<{ from: string; table: string }>(`pragma foreign_key_list(${name})`);
    const columns = await query<{ name: string; pk: number }>(`pragma table_info(${name})`);
    tables[name] = columns.map((column) => {
      const parent = parents.find((one) => one.from === column.name);
      return [column.name, column.pk > 0 ? 'key' : '', parent ? `→ ${parent.table}` : ''].filter(Boolean).join(' ');
    });
  }
  return tables;
}

describe('docs/store.md', () => {
  it('has every table, column, key and reference, and no other', async () => {
    const tables = await actual();
    expect(Object.keys(tables)).toHaveLength(14);
    expect(documented()).toEqual(tables);
  });

  it('names the folder of the files that wait', () => {
    expect(page).toContain('`$XDG_STATE_HOME/dart/spool/`');
    expect(join(stateFolder({ XDG_STATE_HOME: '/state' }), 'spool')).toBe('/state/dart/spool');
  });
});
