import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { spec } from './spec.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-plot-'));
  writeFileSync(join(cwd, 'a.ndjson'), metrics([3, 1, 2]));
  writeFileSync(join(cwd, 'b.ndjson'), metrics([-1, -0.5]));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function metrics(losses: number[]): string {
  const record = (name: string, value: number, i: number) =>
    JSON.stringify({ type: 'metric', v: 1, name: `train/${name}`, value, update: i + 1 });
  const lines = losses.flatMap((loss, i) => [record('loss', loss, i), record('lr', 0.0002, i)]);
  return `${lines.join('\n')}\n{"type":"summary","v":1,"command":"dart-train"}\n`;
}

async function plot(args: string[], stdin = '') {
  const io = testIo({ cwd, stdin });
  const code = await runCommand(spec, ['plot', ...args], io);
  return { code, out: io.out(), err: io.err(), lines: io.out().trimEnd().split('\n') };
}

describe('dart-train plot', () => {
  it('prints the course of each metric of each run', async () => {
    const { code, lines, err } = await plot(['a.ndjson', 'b.ndjson']);
    expect([code, err]).toEqual([0, '']);
    expect(lines.map((line) => line.trim().split(/ +/))).toEqual([
      ['metric', 'run', 'course', 'first', 'last', 'least', 'largest'],
      ['loss', 'a', '█▁▅', '3', '2', '1', '3'],
      ['loss', 'b', '▁█', '-1', '-0.5', '-1', '-0.5'],
      ['lr', 'a', '▅▅▅', '0.0002', '0.0002', '0.0002', '0.0002'],
      ['lr', 'b', '▅▅', '0.0002', '0.0002', '0.0002', '0.0002'],
    ]);
  });

  it('reads standard input, and shows what was asked for', async () => {
    const { lines } = await plot(['--metrics', 'train/lr, loss', '--smooth', '0.5'], metrics([4, 1]));
    expect(lines.slice(1).map((line) => line.trim().split(/ +/).slice(0, 5))).toEqual([
      ['lr', 'stdin', '▅▅', '0.0002', '0.0002'],
      ['loss', 'stdin', '█▁', '4', '2'],
    ]);
  });

  it('shows a metric that is asked for twice once', async () => {
    const { lines } = await plot(['a.ndjson', '--metrics', 'loss,lr,train/loss,loss']);
    expect(lines.slice(1).map((line) => line.split(/ +/)[0])).toEqual(['loss', 'lr']);
  });

  it('takes the largest numbers that there are', async () => {
    writeFileSync(join(cwd, 'large.ndjson'), metrics([-1.7976931348623157e308, 1e308, 1.7976931348623157e308]));
    const { lines } = await plot(['large.ndjson', '--metrics', 'loss']);
    const max = '1.7976931348623157e+308';
    expect(lines[1]!.split(/ +/)).toEqual(['loss', 'large', '▁▇█', `-${max}`, max, `-${max}`, max]);
    const { out } = await plot(['large.ndjson', '--svg', '-']);
    expect(out).not.toMatch(/NaN|Infinity/);
    expect(out).toContain(`<title>large: 3, ${max}</title>`);
  });

  it.each([
    [90, ['metric', 'run', 'course', 'first', 'last', 'least', 'largest'], 23],
    [70, ['metric', 'course', 'first', 'last', 'least', 'largest'], 9],
    [55, ['metric', 'course', 'first', 'last'], 11],
    [45, ['metric', 'first', 'last'], 0],
    [30, ['metric', 'first', 'last'], 0],
  ])('leaves out what does not fit into %d columns', async (columns, head, bars) => {
    const values = Array.from({ length: 50 }, (_, i) => i + 0.25);
    // Columns of 26, 4, 8 or more, 6, 6, 6 and 7, with 2 between them.
    const name = 'train/groups_rejected/all_failed';
    writeFileSync(join(cwd, 'wide.ndjson'), metrics(values).replaceAll('train/loss', name));
    const io = testIo({ cwd });
    Object.assign(io.stdout, { isTTY: true, columns });
    expect(await runCommand(spec, ['plot', 'wide.ndjson'], io)).toBe(0);
    const lines = io.out().trimEnd().split('\n');
    expect(lines[0]!.split(/ +/)).toEqual(head);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(/[▁-█]*$/.exec(lines[1]!.split(/ {2,}/)[head.indexOf('course')] ?? '')![0]).toHaveLength(bars);
    expect(lines[1]!.split(/ +/)[0]).toBe(columns === 30 ? '…ed/all_failed' : 'groups_rejected/all_failed');
  });

  it('writes pictures, whole, and then no text', async () => {
    const { code, out } = await plot(['a.ndjson', '--svg', 'new/a.svg', '--html', 'a.html']);
    expect([code, out]).toEqual([0, '']);
    expect(readFileSync(join(cwd, 'new/a.svg'), 'utf8')).toContain('<title>a: 2, 1</title>');
    expect(readFileSync(join(cwd, 'a.html'), 'utf8')).toContain('<h1>Training: a</h1>');
    expect((await plot(['a.ndjson', '--svg', '-', '--metrics', 'loss'])).out).toMatch(/^<svg .*<\/svg>\n$/s);
  });

  it('tells runs of the same name apart by their paths', async () => {
    await plot(['a.ndjson', '--svg', 'x/y.svg']);
    writeFileSync(join(cwd, 'x/a.ndjson'), metrics([1]));
    const { lines } = await plot(['a.ndjson', 'x/a.ndjson', '--metrics', 'loss']);
    expect(lines.slice(1).map((line) => line.split(/ +/)[1])).toEqual(['a.ndjson', 'x/a.ndjson']);
  });

  it.each([
    [['a.ndjson', '--metrics', 'los'], 2, "--metrics: no file has a metric 'los'. Try: loss"],
    [
      ['a.ndjson', '--metrics', 'xyz'],
      2,
      "no file has a metric 'xyz'. Try: lr or loss; without --metrics all are shown",
    ],
    [['a.ndjson', '-o', 'x'], 2, 'unknown option -o. Try: dart-train plot --help'],
    [
      ['a.ndjson', '--x', 'tokens'],
      2,
      'a: the run has nothing to place its updates by for --x tokens. Try: --x update',
    ],
    [['none.ndjson'], 2, 'none.ndjson: cannot read'],
    [['a.ndjson', '--smooth', '1'], 2, '--smooth'],
    [[], 1, 'no metric of an update came. Try: a file that dart-train wrote'],
  ])('says what is wrong with %j', async (args, wanted, message) => {
    const { code, err } = await plot([...args, '--html', 'none.html']);
    expect([code, err]).toEqual([wanted, expect.stringContaining(message)]);
    expect(existsSync(join(cwd, 'none.html'))).toBe(false);
  });
});
