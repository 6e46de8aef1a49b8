import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../cli/paths.ts';

describe('the tables of a store', () => {
  it('are asked by Store.query outside its room, which waits for a store that is away', () => {
    const root = packageRoot();
    const files = ['lib', 'commands'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))),
    );
    const shipped = files.filter(
      (file) => /\.ts$/.test(file) && !/\.(test|testing)\.ts$/.test(file) && !file.startsWith(join('lib', 'store')),
    );
    expect(shipped.length).toBeGreaterThan(100);
    const past = /\bstore!?\.db\b|#store\.db\b|\{ db \}: Pick<Store/;
    expect(shipped.filter((file) => past.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });
});
