import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { Interrupted } from '../../lib/cli/stop.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { spec } from './spec.ts';

const TASKS = ['--tasks', join(packageRoot(), 'fixtures/tasks/embedded'), '--task', 'chrome-bookmark-tea'];
const EXPERT = [...TASKS, '--policy', 'script', '--env', 'embedded:2', '--run-id', 'a', '--blobs', 'blobs'];

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-observe-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe('a run that is watched', () => {
  it('answers Prometheus while it goes on, and no longer', async () => {
    const stop = new AbortController();
    const io = testIo({ cwd: dir, signal: stop.signal });
    const running = runCommand(spec, [...EXPERT, '--follow', '--metrics', '0', '--progress', 'none'], io);
    const url = await vi.waitUntil(
      () => /metrics at (http:\/\/127\.0\.0\.1:\d+\/metrics)\n/.exec(io.err())?.[1],
      60_000,
    );
    const value = (text: string, series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1],
      );
    const scrape = async () => (await fetch(url)).text();
    let text = '';
    await vi.waitUntil(async () => {
      text = await scrape();
      return value(text, 'dart_rollout_trajectories_total{outcome="success"}') >= 3;
    }, 60_000);
    expect(text).toContain('dart_rollout_run_info{run_id="a",policy="script"} 1\n');
    expect(value(text, 'dart_rollout_desktops')).toBe(2);
    expect(value(text, 'dart_rollout_success_ratio')).toBe(1);
    const held = value(text, 'dart_rollout_desktop_held_seconds_total{env_id="embedded-1"}');
    const busy = value(text, 'dart_rollout_desktop_busy_seconds_total{env_id="embedded-1"}');
    expect(busy).toBeGreaterThan(0);
    expect(busy).toBeLessThanOrEqual(held);
    expect(text).toContain('dart_rollout_worker_up{worker="script-0"} 1\n');
    stop.abort(new Interrupted('SIGINT'));
    expect(await running).toBe(130);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('does not begin where its port is in use', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    const io = testIo({ cwd: dir });
    expect(await runCommand(spec, [...EXPERT, '-n', '1', '--metrics', String(port)], io)).toBe(2);
    expect(io.err()).toBe(
      `dart-rollout: --metrics ${port}: cannot offer metrics: the port is in use. Try: another port, or 0 for any free one\n`,
    );
    expect(io.out()).toBe('');
    other.close();
  });

  it('writes what is used into its stream, and sums it up', async () => {
    const io = testIo({ cwd: dir });
    const latency = ['--env', 'embedded:2,latency=20', '-n', '6', '--usage', '0.05', '--quiet'];
    const args = [...TASKS, '--policy', 'script', '--run-id', 'b', '--blobs', 'blobs', ...latency];
    expect(await runCommand(spec, args, io)).toBe(0);
    const records = io.records();
    const metrics = records.filter(({ type }) => type === 'metric').map((record) => parseRecord('metric', record, 't'));
    const shares = metrics.filter(({ unit }) => unit === 'share').map(({ value }) => value);
    expect(shares.length).toBeGreaterThan(0);
    for (const share of shares.filter((value) => value !== null)) {
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThanOrEqual(1);
    }
    const desktops = new Set(metrics.map(({ env_id }) => env_id).filter(Boolean));
    expect([...desktops].sort()).toEqual(['embedded-0', 'embedded-1']);
    const summary = records.at(-1)!;
    expect(summary).toMatchObject({
      trajectories: 6,
      desktops: { 'embedded-0': expect.any(Number), 'embedded-1': expect.any(Number) },
      workers: { 'script-0': expect.any(Number) },
    });
    expect(summary.env_utilisation).toBeGreaterThan(0);
  });

  it('says in lines how far it is, and how long it takes', async () => {
    const io = testIo({ cwd: dir });
    expect(await runCommand(spec, [...EXPERT, '-n', '4'], io)).toBe(0);
    // On a slow machine there are lines before the last one.
    expect(io.err().split('\n').at(-2)).toMatch(
      /^dart-rollout: run a: 4 trajectories, \d+\/min, success 1\.00 over the last 100, version 0, desktops \d+%, workers \d+% used, success 4$/,
    );
  });
});
