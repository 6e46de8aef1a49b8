import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../../lib/cli/paths.ts';
import { readBase } from '../base.ts';
import { SUITES } from '../evaluations.ts';
import { publishedPath, publishedRuns } from '../published.ts';
import type { ArpoRun } from './details.ts';
import { arpoSettingsFrom } from './pieces.ts';
import { arpoSection } from './report.ts';
import { isArpoRun } from './runs.ts';
import { taskFilesIn } from './tasks.ts';

describe('the runs in docs/results/arpo.ndjson', () => {
  it('were made with the settings of now, and are what docs/results.md shows', async () => {
    const settings = arpoSettingsFrom({});
    const runs = (await publishedRuns(publishedPath('arpo'))) as ArpoRun[];
    expect(runs.length).toBeGreaterThan(0);
    const page = readFileSync(join(packageRoot(), 'docs/results.md'), 'utf8');
    const shown = page.slice(page.indexOf('<!-- arpo -->') + '<!-- arpo -->'.length, page.indexOf('<!-- /arpo -->'));
    const selected = Number(/drawn from the (\d+)/.exec(shown)?.[1]);
    expect(shown.trim()).toBe(arpoSection(settings, runs, selected).text.trim());
    // Which tasks were selected follows from rollouts that are not kept: those of the first run must be those of all.
    const digest = /\n([0-9a-f]{64})\n/.exec(runs[0]!.made)![1]!;
    const tasks = taskFilesIn(settings.dir, {
      ...{ 'in-domain': { path: '', count: 32 }, 'out-of-domain': { path: '', count: 28 } },
      ...{ selected: { path: '', count: selected }, digest },
      ...{ all: { path: SUITES.train, count: 60 }, heldout: { path: SUITES.heldout, count: 60 } },
    });
    const given = { base: readBase(settings.base), tasks };
    expect(runs.filter((run) => !isArpoRun(settings, given, run)).map(({ name, seed }) => [name, seed])).toEqual([]);
  });
});
