import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWholeStream } from '../stream/files.ts';
import { evaluationPage, PageChoice } from './evaluation_page.ts';
import { EVIL, exampleReport } from './example.testing.ts';
import { chromiumPath, launchChromium } from './trajectory/chromium.testing.ts';
import { loadPixel, stepOf, trajectoryOf } from './trajectory/example.testing.ts';

/** Rollouts of the example, some of them alike. */
function choiceOf(): PageChoice {
  const choice = new PageChoice();
  const add = (task_id: string, parts: object) => choice.add(trajectoryOf([stepOf(), stepOf()], { task_id, ...parts }));
  add('solved', { trajectory_id: 'r/1' });
  add('solved', { trajectory_id: 'r/2' });
  add('failed', { outcome: 'failure', reward: 0, domain: 'vlc' });
  add('failed', { domain: 'vlc' });
  add('errored', { outcome: 'evaluator_error', reward: null, error: EVIL, domain: 'vlc' });
  return choice;
}

describe('PageChoice', () => {
  it('takes the first rollout of each outcome of each task', () => {
    expect(
      choiceOf().trajectories.map(({ task_id, outcome, trajectory_id }) => [task_id, outcome, trajectory_id]),
    ).toEqual([
      ['solved', 'success', 'r/1'],
      ['errored', 'evaluator_error', expect.anything()],
      ['failed', 'failure', expect.anything()],
      ['failed', 'success', expect.anything()],
    ]);
  });
});

describe.skipIf(!chromiumPath)('the page of an evaluation in Chromium', () => {
  let dir = '';
  let browser: Browser;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'dart-evaluation-'));
    browser = await launchChromium();
    const page = evaluationPage(exampleReport(), choiceOf().trajectories, loadPixel);
    await writeWholeStream(join(dir, 'eval.html'), page);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(dir, { recursive: true });
  });

  it.each([1280, 390])(
    'opens from a file at %d pixels: no message, no request, no sideways scrolling',
    async (width) => {
      const page = await (await browser.newContext({ viewport: { width, height: 800 } })).newPage();
      const trouble: string[] = [];
      page.on('console', (message) => trouble.push(message.text()));
      page.on('pageerror', (error) => trouble.push(error.message));
      page.on('request', (request) => {
        if (!/^(file|data):/.test(request.url())) trouble.push(request.url());
      });
      await page.goto(pathToFileURL(join(dir, 'eval.html')).href);
      const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
      expect(await fits()).toBe(true);
      expect(await page.locator('caption').allTextContents()).toEqual([
        ...['Gates', 'By domain'],
        ...['Tasks that could not be scored, for errors', 'Tasks that cannot be scored here'],
      ]);
      const rows = page.locator('table.rollouts tbody tr:visible');
      expect(await rows.count()).toBe(4);
      await page.locator('#outcome').selectOption('success');
      expect(await rows.count()).toBe(2);
      await page.locator('table.rollouts tbody tr:visible a').first().click();
      await page.locator('.step:visible svg use').waitFor();
      expect(await page.locator('.step:visible h4').first().textContent()).toBe('Thought');
      expect(await fits()).toBe(true);
      expect(trouble).toEqual([]);
    },
  );
});
