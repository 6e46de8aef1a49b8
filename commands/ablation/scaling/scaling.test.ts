import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { batchSeconds, busyStretch, pointOf, type Span, simulatedPoint, soundPoint } from './figure.ts';
import { keptSpans, type Measurement, measuredOf, measurementFile, measurementsOf, spansOf } from './real.ts';
import { type ScalingRow, scalingSection } from './report.ts';
import { scalingSettingsFrom } from './settings.ts';
import { arpoWorkload, PAPER } from './workload.ts';

const dir = mkdtempSync(join(tmpdir(), 'dart-scaling-test-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Rollouts of desktops that begin together and are never without work: the seconds of each, desktop by desktop. */
const desktopsOf = (...rounds: readonly number[][]): Span[] =>
  rounds.flatMap((seconds) => {
    let now = 0;
    return seconds.map((each) => {
      const began = now;
      now += 1000 * each;
      return { began, ended: now };
    });
  });

describe('the figures', () => {
  it('are a mean of batches', () => {
    // Two batches of two: 0 to 3 s and 3 to 7 s.
    const spans = [
      { began: 0, ended: 2000 },
      { began: 0, ended: 3000 },
      { began: 3000, ended: 6000 },
      { began: 3000, ended: 7000 },
    ];
    expect(batchSeconds(spans, 2)).toBe(3.5);
    expect(pointOf(16, 180, 2)).toEqual({ desktops: 16, batch: 180, epoch: 11_520, decoupledEpoch: 512 });
    expect(pointOf(16, null, null)).toEqual({ desktops: 16, batch: null, epoch: null, decoupledEpoch: null });
  });

  it('are the rate of all desktops however few rounds there are: waves of ends do not matter', () => {
    for (const rounds of [2, 3, 4, 5]) {
      const wave = Array.from({ length: rounds }, () => 100);
      // Eight desktops, a rollout in 100 s each: 8 in 100 s. The rate between two ends would say anything.
      expect(busyStretch(desktopsOf(...Array.from({ length: 8 }, () => wave)))).toEqual({
        ...{ seconds: 100 * (rounds - 1), rollouts: 8 * (rounds - 1) },
      });
    }
  });

  it('count the part of a rollout that lies before the last beginning', () => {
    // 4 + 4 s beside 3 + 2 + 4 s. The last begins at 5 s: one and a quarter, and two.
    expect(busyStretch(desktopsOf([4, 4], [3, 2, 4]))).toEqual({ seconds: 5, rollouts: 3.25 });
    // 2 s each beside 3 s each, up to 6 s: 3 + 2 rollouts, and 1/2 + 1/3 a second.
    expect(busyStretch(desktopsOf([2, 2, 2], [3, 3, 3]))).toEqual({ seconds: 6, rollouts: 5 });
  });

  it('say nothing of a single round, nor where the machine is slower than the workload', () => {
    // As simulated: 190 s a batch, and 8 rollouts in 200 s, which is 128 times that for an epoch's 1,024.
    const simulated = { batch: 190, decoupledEpoch: 25_600 };
    const point = (rollouts: number, batch = 200, seconds = 400) =>
      soundPoint(8, { batch, busy: { seconds, rollouts } }, simulated);
    const told = { desktops: 8, batch: 200, epoch: 25_600, decoupledEpoch: 25_600 };
    expect(point(16)).toEqual({ point: told, doubts: [] });
    expect(point(8, 200, 200)).toEqual({ point: { ...told, decoupledEpoch: null }, doubts: ['few'] });
    // 1.25 × 190 s are 237.5 s.
    expect(point(16, 237)).toMatchObject({ point: { batch: 237 }, doubts: [] });
    expect(point(16, 238)).toEqual({ point: { ...told, batch: null, epoch: null }, doubts: ['batch'] });
    // 1.25 × 400 s for these 16 rollouts.
    expect(point(16, 200, 500)).toMatchObject({ point: { decoupledEpoch: 32_000 }, doubts: [] });
    expect(point(16, 200, 501)).toEqual({ point: { ...told, decoupledEpoch: null }, doubts: ['decoupled'] });
    expect(point(16, 238, 501)).toEqual({ point: pointOf(8, null, null), doubts: ['batch', 'decoupled'] });
  });

  it('come from as many batches as were asked for, and one round more of each desktop', async () => {
    const settings = scalingSettingsFrom({ SCALE: '10', BATCHES: '2' });
    const asked: Measurement[] = [];
    const measured = await measuredOf(8, settings, async (one) => {
      asked.push(one);
      return desktopsOf(...Array.from({ length: 8 }, () => Array.from({ length: one.rounds }, () => 20)));
    });
    expect(asked.map(({ mode, rounds }) => [mode, rounds])).toEqual([
      ['batch', 2],
      ['async', 3],
    ]);
    expect(measured).toEqual({ batch: 200, busy: { seconds: 400, rollouts: 16 } });
  });
});

describe('the workload', () => {
  it('has the paper’s ends: 3 minutes and over 6 hours with 8 desktops, 19 minutes and 1.2 hours with 256', async () => {
    const [few, many] = [await simulatedPoint(8), await simulatedPoint(256)];
    expect(Math.abs(few.batch / 60 - PAPER[8]!.batchMinutes)).toBeLessThan(0.2);
    expect(few.epoch! / 3600).toBeGreaterThan(PAPER[8]!.epochHours);
    expect(Math.abs(many.batch / 60 - PAPER[256]!.batchMinutes)).toBeLessThan(0.5);
    expect(Math.abs(many.epoch! / 3600 - PAPER[256]!.epochHours)).toBeLessThan(0.1);
  });

  it('has as many rollouts a batch as desktops', () => {
    expect([8, 64].map((desktops) => arpoWorkload(desktops).batch_groups.value)).toEqual([1, 8]);
  });
});

describe('what was measured', () => {
  it('is kept, each with what it was made by: other settings are other files', () => {
    const filesOf = (env: Record<string, string | undefined>) =>
      measurementsOf(8, scalingSettingsFrom(env)).map((one) => measurementFile(dir, one));
    const all = [{}, { BATCHES: '2' }, { BATCHES: '4' }, { SCALE: '30' }].map(filesOf);
    expect(new Set(all.flat()).size).toBe(8);
    expect(all[0]).toEqual(filesOf({ REAL_DESKTOPS: '8', RUN_DIR: 'elsewhere', DESKTOPS: '8' }));
    expect(all[0]![0]).toMatch(/\/real-8-batch-3-[0-9a-f]{8}\.json$/);
  });

  /** Eight desktops, a rollout of each in so many seconds of the workload, 60 times faster. */
  const spansOfEight = ({ rounds }: Measurement, seconds: number) =>
    desktopsOf(...Array.from({ length: 8 }, () => Array.from({ length: rounds }, () => seconds / 60)));
  const simulated = { desktops: 8, batch: 180, epoch: 23_040, decoupledEpoch: 22_016 };

  it.each([0, 1])('is not measured again, unless the machine was busy (%i)', async (which) => {
    const folder = mkdtempSync(join(dir, 'kept-'));
    const one = measurementsOf(8, scalingSettingsFrom({}))[which]!;
    const measured: number[] = [];
    const spans = (seconds: number) =>
      spansOf(folder, one, simulated, async () => {
        measured.push(seconds);
        return spansOfEight(one, seconds);
      });
    // Too slow: 1.25 × 180 s are 225, and 1.25 × 22,016 s ÷ 128 are 215.
    expect(await spans(226)).toEqual(spansOfEight(one, 226));
    expect([keptSpans(folder, one, simulated), readdirSync(folder)]).toEqual([null, []]);
    for (const seconds of [181, 182, 226]) expect(await spans(seconds)).toEqual(spansOfEight(one, 181));
    expect(measured).toEqual([226, 181]);
    expect(keptSpans(folder, one, simulated)).toEqual(spansOfEight(one, 181));
    // One of a busy machine that was kept before.
    writeFileSync(measurementFile(folder, one), JSON.stringify({ spans: spansOfEight(one, 226) }));
    expect(await spans(183)).toEqual(spansOfEight(one, 183));
    expect(JSON.parse(readFileSync(measurementFile(folder, one), 'utf8')).spans).toEqual(spansOfEight(one, 183));
  });
});

describe('the section', () => {
  const simulated = pointOf(8, 180, 8 / 171);
  const row = (real: ScalingRow['real'], doubts: ScalingRow['doubts']): ScalingRow => ({ simulated, real, doubts });

  it('has a row for each number of desktops', () => {
    const { text, pictures } = scalingSection([row(pointOf(8, 183, 8 / 172), []), row(null, [])], {
      ...{ scale: 60, batches: 3 },
    });
    expect(text).toContain('| 8 | 3 | 6 | 3.0 | 6.40 | 3.0 | 6.51 | 6.08 | 6.12 |');
    expect(text).toContain('| 8 | 3 | 6 | 3.0 | 6.40 | – | – | 6.08 | – |');
    expect(text).toContain('coupled 3 batches, the epoch by their mean; decoupled 4 rollouts of each desktop');
    expect(text).not.toMatch(/not told/i);
    expect(pictures['rollout-scaling.svg']).toContain('<title>coupled, real: 8,');
  });

  it('says why a figure is not there', () => {
    const rows = [row(pointOf(8, 183, null), ['few']), row(pointOf(8, null, null), ['batch', 'decoupled'])];
    const { text } = scalingSection(rows, { scale: 600, batches: 1 });
    expect(text).toContain('| 8 | 3 | 6 | 3.0 | 6.40 | 3.0 | 6.51 | 6.08 | – |');
    expect(text).toContain('Decoupled not told with 8 desktops: there were fewer than 1.5 rollouts of each');
    expect(text).toContain('| 8 | 3 | 6 | 3.0 | 6.40 | – | – | 6.08 | – |');
    expect(text).toContain('Coupled not told with 8 desktops: a real batch took more than 1.25 times');
    expect(text).toContain('Decoupled not told with 8 desktops: an epoch took more than 1.25 times');
    // Half of 38.5 s² ÷ (173 s)², the variance being 0.2² ÷ 3 × (45² + 15 × (2² + 5.2²) + 20²).
    expect(text).toContain('each desktop is given about 0.0006 rollouts too many');
    expect(text).toContain('coupled 1 batch, the epoch by their mean');
  });
});

describe('the settings', () => {
  it('are numbers of whole groups, at least one', () => {
    expect(scalingSettingsFrom({ DESKTOPS: '16, 8' }).desktops).toEqual([16, 8]);
    expect(scalingSettingsFrom({ DESKTOPS: '8,16,8,08' }).desktops).toEqual([8, 16]);
    expect(scalingSettingsFrom({}).desktops).toEqual([8, 16, 32, 64, 128, 256]);
    expect(() => scalingSettingsFrom({ DESKTOPS: ',' })).toThrow("names none in ','");
    expect(() => scalingSettingsFrom({ DESKTOPS: '12' })).toThrow('a batch is whole groups of 8, so not 12 desktops');
  });
});
