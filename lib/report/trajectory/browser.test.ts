import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWholeStream } from '../../stream/files.ts';
import { chromiumPath, launchChromium } from './chromium.testing.ts';
import { loadPixel, stepOf, trajectoryOf } from './example.testing.ts';
import { reportPage, trajectoryPage } from './page.ts';

const EVIL = '</script><script>window.evil=1</script><img src="http://127.0.0.1:9/x" onerror="window.evil=1">';
/** How long a page may take. */
const PATIENCE = { timeout: 60_000 };
const STEPS = [
  stepOf({}, { text: `Thought: ${EVIL}\nAction: ${EVIL}`, tokens: [EVIL, 'b', 'c'] }),
  stepOf({ actions: [{ type: 'drag', x: 10, y: 20, to_x: 600, to_y: 300 }] }),
  stepOf({ actions: [{ type: 'type', text: `${'long '.repeat(60)}\n` }] }),
];

describe.skipIf(!chromiumPath)('a page in Chromium', () => {
  let dir = '';
  let browser: Browser;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'dart-page-'));
    browser = await launchChromium();
    const trajectories = [
      trajectoryOf(STEPS, { instruction: EVIL }),
      trajectoryOf([stepOf()], { task_id: 'second', outcome: 'failure', reward: 0 }),
      trajectoryOf([stepOf()], { task_id: 'third' }),
    ];
    await writeWholeStream(join(dir, 'one.html'), trajectoryPage(trajectories[0]!, loadPixel));
    await writeWholeStream(join(dir, 'all.html'), reportPage({ title: 'All', trajectories, loadBlob: loadPixel }));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(dir, { recursive: true });
  });

  /** Opens a page and collects what should not be: console messages, errors, requests of the network. */
  async function open(name: string, { width = 1280, hash = '', javaScriptEnabled = true } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, javaScriptEnabled });
    const page = await context.newPage();
    const trouble: string[] = [];
    page.on('console', (message) => trouble.push(message.text()));
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) trouble.push(request.url());
    });
    await page.goto(pathToFileURL(join(dir, name)).href + hash);
    return { page, trouble };
  }

  const place = (page: Page) => page.locator('#place').textContent();
  const shown = (page: Page) => page.locator('.step:visible h3').allTextContents();
  const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth');

  it('opens from a file without errors, requests, or the scripts of a reply', async () => {
    const { page, trouble } = await open('one.html');
    expect(await shown(page)).toEqual(['Step 1 of 3']);
    expect(await page.evaluate('window.evil')).toBe(undefined);
    // The picture is really drawn: a reference to it has a size.
    expect(await page.locator('.step:visible svg use').boundingBox()).toMatchObject({ width: expect.any(Number) });
    expect(await page.locator('.step:visible h4').first().textContent()).toBe('Thought');
    expect(trouble).toEqual([]);
  });

  it('goes through the steps by keys, buttons and the list, and remembers the place in its address', async () => {
    const { page } = await open('one.html');
    await page.keyboard.press('ArrowRight');
    expect([await shown(page), await place(page)]).toEqual([['Step 2 of 3'], 'step 2 of 3']);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    expect(await shown(page)).toEqual(['Step 3 of 3']);
    expect(await page.evaluate('location.hash')).toBe('#t0s2');
    await page.locator('#back').click();
    expect(await shown(page)).toEqual(['Step 2 of 3']);
    await page.locator('nav.list a').first().click();
    expect(await shown(page)).toEqual(['Step 1 of 3']);
    expect(await page.locator('nav.list a[aria-current]').count()).toBe(1);
    expect(await shown((await open('one.html', { hash: '#t0s1' })).page)).toEqual(['Step 2 of 3']);
  });

  it('hides the marks and turns dark on request', async () => {
    const { page } = await open('one.html');
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await page.locator('.step:visible .ring').isVisible()).toBe(true);
    await page.keyboard.press('a');
    expect(await page.locator('.step:visible .ring').isVisible()).toBe(false);
    expect(await ground()).toBe('rgb(255, 255, 255)');
    await page.keyboard.press('t');
    expect(await ground()).toBe('rgb(20, 23, 26)');
  });

  it('lists, filters and opens trajectories', async () => {
    const { page, trouble } = await open('all.html');
    const rows = page.locator('table.rollouts tbody tr:visible');
    expect([await rows.count(), await page.locator('.step:visible').count()]).toEqual([3, 0]);
    await page.locator('#outcome').selectOption('success');
    expect([await rows.count(), await page.locator('#matches').textContent()]).toEqual([2, '2 of 3']);
    await page.locator('#filter').fill('third');
    expect(await rows.count()).toBe(1);
    await page.locator('#filter').fill('');
    await page.locator('table.rollouts a').first().click();
    // A link is followed a moment after the click.
    await expect.poll(() => place(page), PATIENCE).toBe('press: step 1 of 3');
    // The second is filtered away.
    await page.keyboard.press('n');
    await expect.poll(() => place(page), PATIENCE).toBe('third: step 1 of 1');
    await page.keyboard.press('Escape');
    await expect.poll(() => rows.count(), PATIENCE).toBe(2);
    expect(trouble).toEqual([]);
  });

  it.each([1280, 390])('fits into %d pixels, long texts included', async (width) => {
    for (const [name, hash] of [
      ['all.html', ''],
      ['one.html', '#t0s0'],
      ['one.html', '#t0s2'],
    ] as const) {
      const { page } = await open(name, { width, hash });
      expect(await fits(page), `${name}${hash}`).toBe(true);
    }
  });

  it('is one long page without script', async () => {
    const { page } = await open('all.html', { javaScriptEnabled: false });
    expect(await page.locator('.step').count()).toBe(5);
    expect(await page.locator('.step').last().isVisible()).toBe(true);
    expect(await page.locator('#filter').isVisible()).toBe(false);
  });
});
