import { describe, expect, it } from 'vitest';
import { MetricRun, type PlotAxis, rangeOf, smoothed, thinned } from './plot.ts';
import { plotPage, plotSvg } from './plot_page.ts';

const metric = (name: string, update: number, value: number | null, unit?: string) => ({
  ...{ type: 'metric', v: 1, name: `train/${name}`, value, update },
  ...(unit ? { unit } : {}),
});

/** Three updates, the second of which was lost and made again; the loss of the third is not known. */
function run(name = 'a') {
  const made = new MetricRun(name);
  for (const [update, loss, tokens] of [
    [1, 4, 10],
    [2, 99, 99],
    [2, 2, 30],
    [3, null, 5],
    [4, -1, 5],
  ] as const) {
    made.add(metric('loss', update, loss, 'nats'));
    made.add(metric('tokens', update, tokens));
    made.add(metric('ref_kl', update, null));
  }
  return made;
}

describe('MetricRun', () => {
  it('has the known values in the order of the updates, the later one where an update came twice', () => {
    expect(run().series('train/loss', 'update')).toEqual({
      ...{ metric: 'train/loss', run: 'a', unit: 'nats' },
      points: [
        { x: 1, y: 4 },
        { x: 2, y: 2 },
        { x: 4, y: -1 },
      ],
    });
    expect(run().metrics).toEqual(['train/loss', 'train/tokens']);
  });

  it('places them by the tokens until then, those of updates without a value too', () => {
    expect(
      run()
        .series('train/loss', 'tokens')!
        .points.map(({ x }) => x),
    ).toEqual([10, 40, 50]);
  });

  it('places them by the seconds of updates and waiting, if it knows any', () => {
    const timed = run();
    expect(timed.series('train/loss', 'wall')).toBeNull();
    for (const update of [1, 2, 3, 4]) timed.add(metric('update_s', update, 2));
    timed.add(metric('wait_s', 2, 0.5));
    expect(timed.series('train/loss', 'wall')!.points.map(({ x }) => x)).toEqual([2, 4.5, 8.5]);
  });

  it('takes metrics of updates only', () => {
    const made = new MetricRun('a');
    expect(made.add({ type: 'metric', v: 1, name: 'rollout/success', value: 1 })).toBe(false);
    expect(made.add({ type: 'metric', v: 1, name: 'train/loss', value: 1, update: null })).toBe(false);
    expect(made.add({ type: 'event', v: 1, event: 'x', update: 1, name: 'y', value: 1 })).toBe(false);
    expect([made.metrics, made.series('rollout/success', 'update')!.points]).toEqual([[], []]);
  });
});

describe('an evaluation', () => {
  it('is a point of its version, wherever that lies among the updates', () => {
    const made = run();
    for (const [version, score] of [
      [2, 0.5],
      [0, 0.25],
    ]) {
      made.add({ type: 'event', v: 1, event: 'evaluated', version, score });
    }
    const points = (axis: PlotAxis) => made.series('eval/success_rate', axis)!.points;
    expect(points('update')).toEqual([
      { x: 0, y: 0.25 },
      { x: 2, y: 0.5 },
    ]);
    expect(points('tokens').map(({ x }) => x)).toEqual([0, 40]);
  });
});

describe('the numbers of a curve', () => {
  it('are smoothed as TensorBoard does, and not at all by 0', () => {
    const points = [4, 2, 0].map((y, x) => ({ x, y }));
    expect(smoothed(points, 0)).toEqual(points);
    // 4; (0.5·2 + 0.25·4)/0.75; (0.5·0 + 0.25·2 + 0.125·4)/0.875
    expect(smoothed(points, 0.5).map(({ y }) => y)).toEqual([4, expect.closeTo(8 / 3, 12), expect.closeTo(8 / 7, 12)]);
  });

  it('are the means of neighbours where there are more than 300', () => {
    const points = Array.from({ length: 600 }, (_, x) => ({ x, y: 2 * x }));
    expect(thinned(points)).toHaveLength(300);
    expect(thinned(points)[1]).toEqual({ x: 2.5, y: 5 });
    expect(thinned(points.slice(0, 3))).toEqual(points.slice(0, 3));
  });

  it('have a first, a last, a least and a largest', () => {
    expect(rangeOf(run().series('train/loss', 'update')!)).toEqual({ first: 4, last: -1, min: -1, max: 4 });
  });
});

describe('the pictures of runs', () => {
  const series = ['train/loss', 'train/tokens'].flatMap((name) =>
    [run('a'), run('<b>')].map((each) => each.series(name, 'update')!),
  );

  it('are one SVG document, a picture a metric below the other, a curve a run', () => {
    const svg = plotSvg(series, { axis: 'update', smooth: 0.5 });
    expect(svg.match(/^<svg [^>]*viewBox="0 0 760 840"/)).not.toBeNull();
    expect([...svg.matchAll(/<svg y="(\d+)"/g)].map((match) => match[1])).toEqual(['0', '420']);
    expect(svg).toContain('>train/loss (smoothed 0.5)</text>');
    expect(svg.match(/<title>a: 2, 2<\/title>/g)).toHaveLength(1);
    expect(svg.match(/<title>&lt;b&gt;: 2, 30<\/title>/g)).toHaveLength(1);
    expect(plotSvg(series.slice(0, 2), { axis: 'tokens', smooth: 0 })).toMatch(/^<svg [^>]*viewBox="0 0 760 420"/);
  });

  it('are a page with a row a series, which asks nothing of the network', () => {
    const page = plotPage(series, { axis: 'tokens', smooth: 0 });
    expect(page).toContain('<td>train/loss</td><td>&lt;b&gt;</td><td class="course">█▅▁</td><td class="number">4</td>');
    expect(page.match(/<tr><td>/g)).toHaveLength(4);
    expect(page.match(/<svg /g)).toHaveLength(2);
    expect(page).toContain('tokens learned from');
    expect(page).not.toContain('<b>');
    expect(page.match(/(src|href)=|@import|url\(/g)).toBeNull();
  });
});
