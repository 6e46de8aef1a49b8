import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { encodeReply } from '../../lib/policy/network/vocabulary.ts';
import { PIXEL, stepOf, trajectoryOf } from '../../lib/report/trajectory/example.testing.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { shared } from '../../lib/stream/shared.testing.ts';
import { spec as curate } from '../curate/spec.ts';
import { spec } from './spec.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-show-'));
  const first = trajectoryOf([stepOf(), stepOf()]);
  const second = trajectoryOf([stepOf()], {
    task_id: 'second',
    trajectory_id: 'run/second/0/0',
    instruction: 'do more',
  });
  const lines = [{ type: 'weather', v: 1 }, first, second, { type: 'summary', v: 1, command: 'x' }];
  writeFileSync(join(dir, 'run.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  new BlobStore(join(dir, 'blobs')).putSync(PIXEL);
});
afterAll(() => rmSync(dir, { recursive: true }));

async function show(args: string[], parts: Parameters<typeof testIo>[0] = {}) {
  const io = testIo({ cwd: dir, ...parts });
  const code = await runCommand(spec, ['show', ...args], io);
  return { code, out: io.out(), err: io.err() };
}

describe('dart-rollout show', () => {
  it('prints the first trajectory, or the one that is asked for', async () => {
    const first = await show(['run.ndjson']);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toMatch(/^press the button\n {2}task {5}press \(os\)\n/);
    expect(first.out.match(/^step \d/gm)).toEqual(['step 1', 'step 2']);
    for (const args of [
      ['--index', '1'],
      ['--id', 'second'],
      ['--id', 'run/second/0/0'],
    ]) {
      expect((await show(['run.ndjson', ...args])).out).toMatch(/^do more\n/);
    }
    const piped = await show(['-', '--index', '1'], { stdin: readFileSync(join(dir, 'run.ndjson'), 'utf8') });
    expect(piped.out).toMatch(/^do more\n/);
  });

  it('has colours on a terminal only, and not with NO_COLOR', async () => {
    expect((await show(['run.ndjson'])).out).not.toContain('\u001b[');
    const onTerminal = async (env: Record<string, string>) => {
      const io = testIo({ cwd: dir, env: { XDG_CONFIG_HOME: '/nonexistent', ...env } });
      Object.assign(io.stdout, { isTTY: true, columns: 80 });
      await runCommand(spec, ['show', 'run.ndjson'], io);
      return io.out();
    };
    expect(await onTerminal({})).toContain('\u001b[1mpress the button');
    expect(await onTerminal({ NO_COLOR: '1' })).not.toContain('\u001b[');
  });

  it('says which trajectory is not there', async () => {
    const late = await show(['run.ndjson', '--index', '2']);
    expect([late.code, late.err]).toEqual([2, expect.stringContaining('--index 2: no such trajectory among the 2')]);
    expect((await show(['run.ndjson', '--id', 'x'])).err).toContain('--id x: no such trajectory');
    expect((await show(['run.ndjson', '--id', 'x', '--index', '0'])).code).toBe(2);
    const empty = await show(['-'], { stdin: '' });
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('no trajectory came')]);
    expect((await show(['-'], { stdin: '{"type":"trajectory","v":1}' })).err).toMatch(/^dart-rollout: stdin:1: /);
  });

  it('leaves out what is no trajectory, where that is asked for', async () => {
    const bad = '{"type":"trajectory","v":1,"task_id":5}\n';
    writeFileSync(join(dir, 'bad.ndjson'), bad + readFileSync(join(dir, 'run.ndjson'), 'utf8'));
    const refused = await show(['bad.ndjson']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('bad.ndjson:1: not a valid trajectory')]);
    const skipped = await show(['bad.ndjson', '--on-error', 'skip', '--index', '1']);
    expect([skipped.code, skipped.err]).toEqual([0, expect.stringContaining('left out: bad.ndjson:1')]);
    expect(skipped.out).toContain('do more');
  });

  it('writes a page of one trajectory, or of all', async () => {
    const one = await show(['run.ndjson', '--id', 'second', '--html', 'one.html', '--blobs', 'blobs']);
    expect([one.code, one.out, one.err]).toEqual([0, '', '']);
    const page = readFileSync(join(dir, 'one.html'), 'utf8');
    expect(page).toContain(PIXEL.toString('base64'));
    expect([page.match(/<article /g)?.length, page.includes('<section id="index">')]).toEqual([1, false]);
    const all = await show(['run.ndjson', '--html', '-', '--blobs', 'blobs']);
    expect(all.out).toMatch(/^<!doctype html>[\s\S]*<h1>2 trajectories<\/h1>[\s\S]*<\/html>\n$/);
    expect(all.out.match(/<article /g)).toHaveLength(2);
  });

  it('counts the screenshots that are missing', async () => {
    mkdirSync(join(dir, 'nowhere'));
    const { code, out, err } = await show(['run.ndjson', '--html', '-', '--blobs', 'nowhere']);
    expect(code).toBe(0);
    expect(err).toBe('dart-rollout: warning: 1 of 1 screenshots are not in nowhere. Try: --blobs DIR of that run\n');
    expect(out.match(/<p class="missing">screenshot \w{12}…: no such screenshot</g)).toHaveLength(3);
  });

  it('spells the tokens of the embedded policy where its ids give the very reply', async () => {
    const text = "Action: type(content='ab\\n')";
    const token_ids = encodeReply(text)!;
    const tokens = { token_ids, logprobs: token_ids.map(() => -1), entropies: token_ids.map(() => 0) };
    const stdin = JSON.stringify(
      trajectoryOf([stepOf({}, { text, ...tokens }), stepOf({}, { text: 'wait', ...tokens })]),
    );
    const { out } = await show(['-', '--html', '-', '--blobs', 'blobs'], { stdin });
    const shown = [...out.matchAll(/<span class="(token(?: id)?) h-0" title[^>]*>([^<]*)</g)].map((match) => match[2]);
    expect(shown).toEqual(['type ', 'a', 'b', '⏎', ...token_ids.map(String)]);
  });

  it.skipIf(!shared)('shows the real trajectories of DART with all their screens', async () => {
    const io = testIo({ cwd: dir });
    const folder = join(shared!, 'real/dart');
    const imported = ['import', '--from', 'dart', folder, '--reward', '1', '--blobs', 'real', '-o', 'real.ndjson'];
    expect(await runCommand(curate, imported, io), io.err()).toBe(0);
    const { code, err } = await show(['real.ndjson', '--html', 'real.html', '--blobs', 'real']);
    expect([code, err]).toEqual([0, '']);
    const page = readFileSync(join(dir, 'real.html'), 'utf8');
    expect(page.match(/<article /g)).toHaveLength(5);
    expect(page.match(/<section class="step"/g)).toHaveLength(35);
    expect(page).not.toContain('class="missing"');
    // Its second click goes to "Settings" in Chrome's menu.
    expect(page).toContain('screen of 1920 × 1080 pixels; click (1639, 853)');
    const text = await show(['real.ndjson', '--id', '030eeff7-b492-4218-b312-701ec99ee0cc']);
    expect(text.out).toContain('action   click (1639, 853)');
    expect(text.out.match(/^step \d/gm)).toHaveLength(9);
  });

  it('is explained in its help', async () => {
    const { code, out } = await show(['--help']);
    expect([code, out.includes('--html FILE|-')]).toEqual([0, true]);
  });
});
