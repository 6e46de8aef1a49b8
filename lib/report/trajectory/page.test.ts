import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ABSENT_SHA, loadPixel, PIXEL, stepOf, trajectoryOf } from './example.testing.ts';
import { reportPage, trajectoryPage } from './page.ts';

const EVIL = `</script><script>alert(1)</script><img src="x" onerror='alert(2)'>`;

async function whole(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

describe('trajectoryPage', () => {
  it('holds each picture once, however often it is seen', async () => {
    const page = await whole(trajectoryPage(trajectoryOf([stepOf(), stepOf(), stepOf()]), loadPixel));
    const data = `data:image/png;base64,${PIXEL.toString('base64')}`;
    expect(page.split(data).length - 1).toBe(1);
    expect(page.match(/<use href="#b0" width="640" height="360"\/>/g)).toHaveLength(3);
    expect(page.match(/<section class="step"/g)).toHaveLength(3);
  });

  it('shows a missing picture as missing, with its marks', async () => {
    const screenshot = { sha256: ABSENT_SHA, media_type: 'image/png', width: 640, height: 360 };
    const page = await whole(trajectoryPage(trajectoryOf([stepOf({ observation: { screenshot } })]), loadPixel));
    expect(page).toContain('<p class="missing">screenshot abababababab…: no such file</p>');
    expect(page).toContain('<circle class="ring" cx="320" cy="180"');
    expect(page).not.toContain('data:image');
  });

  it('puts nothing but pictures into picture addresses', async () => {
    const { screenshot } = stepOf().observation;
    const observation = { screenshot: { ...screenshot, media_type: 'image/svg+xml' } };
    const page = await whole(trajectoryPage(trajectoryOf([stepOf({ observation })]), loadPixel));
    expect(page).toContain('image/svg+xml cannot be shown');
    expect(page).not.toContain('data:image');
  });

  it('escapes whatever a reply, a task or a policy says', async () => {
    const step = stepOf(
      { actions: [{ type: 'type', text: EVIL }], parse_error: EVIL },
      { text: `Thought: ${EVIL}\nAction: ${EVIL}`, finish_reason: EVIL, tokens: [EVIL, EVIL, EVIL] },
    );
    const parts = { instruction: EVIL, task_id: EVIL, domain: EVIL, error: EVIL, env_id: EVIL, run_id: EVIL };
    const page = await whole(trajectoryPage(trajectoryOf([step], parts), loadPixel));
    // The page has two scripts of its own, and no element that a reply brought along.
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page.match(/<\/script/g)).toHaveLength(2);
    expect(page).not.toContain('<img');
    expect(page).not.toContain("onerror='");
  });

  it('lets only its own style and script run', async () => {
    const page = await whole(trajectoryPage(trajectoryOf([stepOf()]), loadPixel));
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!;
    const hash = (tag: string) =>
      [...page.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))]
        .map(([, body]) => `'sha256-${createHash('sha256').update(body!).digest('base64')}'`)
        .join(' ');
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      'img-src data:',
      `style-src ${hash('style')}`,
      `script-src ${hash('script')}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(page).not.toMatch(/ style="| on[a-z]+="/);
    expect(page).not.toMatch(/(src|href)="https?:/);
  });

  it('colours tokens by entropy and explains the colours', async () => {
    const spell = () => () => ['press ', '<b>', '!'];
    const page = await whole(trajectoryPage(trajectoryOf([stepOf()]), loadPixel, spell));
    expect(page).toContain('3 tokens, mean entropy 1.08 nats');
    expect(page).toContain(
      '<span class="token h-0" title="token 1, id 11, entropy 0.040 nats, log p -0.050">press </span>',
    );
    expect(page).toContain(
      '<span class="token h-4" title="token 2, id 12, entropy 2.500 nats, log p -1.500">&lt;b&gt;</span>',
    );
    expect(page).toContain('<span class="token h-2" title="token 3, id 13, entropy 0.700 nats, unscored">!</span>');
    expect(page).toContain('<span class="token h-4">2 or more</span>');
  });

  it('has a page for a trajectory without steps', async () => {
    const page = await whole(trajectoryPage(trajectoryOf([], { outcome: 'env_error', reward: null }), loadPixel));
    expect(page).toContain('No step was taken.');
  });
});

describe('reportPage', () => {
  it('lists the trajectories, with facts and tables before them', async () => {
    const trajectories = [
      trajectoryOf([stepOf()]),
      trajectoryOf([stepOf()], { task_id: 'other', outcome: 'failure', reward: 0 }),
    ];
    const tables = [
      {
        caption: 'by domain',
        head: ['domain', 'success'],
        rows: [
          ['<os>', '50.0%'],
          ['web', null],
        ],
      },
    ];
    const page = await whole(
      reportPage({ title: 'Results', facts: [['success', '50%']], tables, trajectories, loadBlob: loadPixel }),
    );
    expect(page).toContain('<h1>Results</h1>');
    expect(page).toContain('<div><dt>success</dt><dd>50%</dd></div>');
    expect(page).toContain('<td>&lt;os&gt;</td><td class="number">50.0%</td>');
    expect(page).toContain('<td>web</td><td class="number">–</td>');
    expect([...page.matchAll(/<tr data-outcome="(\w+)"><td><a href="#(t\d)">(\w+)/g)].map((m) => m.slice(1))).toEqual([
      ['success', 't0', 'press'],
      ['failure', 't1', 'other'],
    ]);
    expect([...page.matchAll(/<article class="trajectory" id="(t\d)"/g)].map((m) => m[1])).toEqual(['t0', 't1']);
    expect(page).toContain('<span class="badge bad">failure 0</span></td><td class="number">1</td>');
    expect(page.match(/<option>(\w+)<\/option>/g)).toEqual(['<option>failure</option>', '<option>success</option>']);
  });
});
