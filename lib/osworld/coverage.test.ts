import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BRIDGED } from './check.ts';
import { GETTERS } from './evaluate.ts';
import { METRICS } from './metrics/index.ts';
import { ROWS } from './metrics/rows.testing.ts';
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

/** Metrics that need more than a pair of values, and the test that shows a 1 and less than 1 of them. */
const BY_HAND: Readonly<Record<string, string>> = {
  infeasible: 'evaluate.test.ts',
  check_file_exists: 'metrics/docs/docs.test.ts',
  check_left_panel: 'metrics/slides/slides.test.ts',
  check_python_file_by_test_suite: 'metrics/misc/misc.test.ts',
  compare_time_in_speedtest_results: 'metrics/misc/misc.test.ts',
};

/** A pair of states and its score in a golden.json, of either form: `[metric, result, expected, options, score]`. */
type GoldenRow = [string, unknown, unknown, unknown, unknown] | { metric: string; score: unknown };

/** Every metric with its scores in the tables that the tests hold it to. Where OSWorld's code breaks there is none. */
function scoresOfTables(): Map<string, number[]> {
  const areas = filesBelow('fixtures/documents', /golden\.json$/).map((text) => JSON.parse(text));
  const golden: GoldenRow[] = areas.flatMap(({ rows, pairs, metrics }) => rows ?? pairs ?? metrics);
  const all = golden.map((row) => (Array.isArray(row) ? [row[0], row[4]] : [row.metric, row.score]));
  const scores = new Map<string, number[]>();
  for (const [name, score] of [...all, ...ROWS.map((row) => [row[0], row[4]])] as [string, unknown][]) {
    if (typeof score === 'number') scores.set(name, [...(scores.get(name) ?? []), score]);
  }
  return scores;
}

describe('every native metric', () => {
  const scores = scoresOfTables();
  const native = [...METRICS.keys()].filter((name) => !BRIDGED.metrics.has(name));
  const full = (name: string) => (scores.get(name) ?? []).some((score) => score === 1);
  const less = (name: string) => (scores.get(name) ?? []).some((score) => score < 1);

  it('has a state that scores 1 and one that scores less', () => {
    const inTables = native.filter((name) => !(name in BY_HAND));
    expect(inTables.filter((name) => !full(name))).toEqual([]);
    expect(inTables.filter((name) => !less(name))).toEqual([]);
    expect(inTables.length).toBeGreaterThan(100);
  });

  it('has them in a test of its own where tables do not reach', () => {
    for (const [name, file] of Object.entries(BY_HAND)) {
      expect(readFileSync(join(import.meta.dirname, file), 'utf8')).toContain(`'${name}'`);
      expect(native).toContain(name);
      expect(full(name) && less(name), `${name} needs no test of its own`).toBe(false);
    }
  });
});
