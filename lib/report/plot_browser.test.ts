import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetricRun } from './plot.ts';
import { plotPage, plotSvg } from './plot_page.ts';
import { chromiumPath, launchChromium } from './trajectory/chromium.testing.ts';

const EVIL = '"><script>window.evil=1</script><img src="http://127.0.0.1:9/x" onerror="window.evil=1">';

/** Two metrics of 400 updates, of a run with a name that does harm where it is not escaped. */
function series() {
  const run = new MetricRun(EVIL);
  for (let update = 1; update <= 400; update++) {
    const metric = (name: string, value: number) => run.add({ type: 'metric', v: 1, name, value, update });
    metric('train/loss', Math.cos(update / 40));
    metric(`train/${EVIL}`, update);
  }
  return run.metrics.map((name) => run.series(name, 'update')!);
}

describe.skipIf(!chromiumPath)('plots in Chromium', () => {
  let dir = '';
  let browser: Browser;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'dart-plot-page-'));
    writeFileSync(join(dir, 'a.html'), plotPage(series(), { axis: 'update', smooth: 0 }));
    writeFileSync(join(dir, 'a.svg'), plotSvg(series(), { axis: 'update', smooth: 0 }));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(dir, { recursive: true });
  });

  it.each(['a.html', 'a.svg'])('are whole in %s, fit a narrow window and ask nothing of the network', async (name) => {
    const page = await browser.newPage({ viewport: { width: 600, height: 900 } });
    const trouble: string[] = [];
    page.on('console', (message) => trouble.push(message.text()));
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) trouble.push(request.url());
    });
    await page.goto(pathToFileURL(join(dir, name)).href);
    expect(await page.locator('circle').count()).toBe(600);
    // The dots of the second picture lie below those of the first, and none outside the page.
    const [first, last] = [page.locator('circle').first(), page.locator('circle').last()];
    const [above, below] = [(await first.boundingBox())!, (await last.boundingBox())!];
    expect(below.y).toBeGreaterThan(above.y);
    expect(below.x + below.width).toBeLessThan(600);
    expect(await page.evaluate('[window.evil, document.documentElement.scrollWidth <= 600]')).toEqual([
      undefined,
      true,
    ]);
    expect(trouble).toEqual([]);
    await page.close();
  });
});
