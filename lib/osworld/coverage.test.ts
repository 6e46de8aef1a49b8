import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BRIDGED } from './check.ts';
import { GETTERS } from './evaluate.ts';
import { METRICS } from './metrics/index.ts';
import { STEPS } from './setup.ts';

const root = join(import.meta.dirname, '../..');

function filesBelow(folder: string, ending: RegExp): string[] {
  const names = readdirSync(join(root, folder), { recursive: true }).map(String);
  return names.filter((name) => ending.test(name)).map((name) => readFileSync(join(root, folder, name), 'utf8'));
}

/** Tests beside the code, and the numbers of OSWorld's own Python that they read. */
const evidence = [
  ...filesBelow('lib/osworld', /(?<!coverage)\.(test|testing)\.ts$/),
  ...filesBelow('fixtures/documents', /\.json$/),
].join('\n');

describe('what counts as native', () => {
  it.each([
    ['steps', STEPS],
    ['getters', GETTERS],
    ['metrics', METRICS],
  ] as const)('%s are each named by a test', (kind, names: ReadonlyMap<string, unknown>) => {
    expect(names.size).toBeGreaterThan(9);
    const untested = [...names.keys()].filter(
      (name) => !BRIDGED[kind].has(name) && !new RegExp(`\\b${name}\\b`).test(evidence),
    );
    expect(untested).toEqual([]);
  });
});
