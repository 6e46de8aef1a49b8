import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { playJobs, spoken } from './queue.ts';

const dir = mkdtempSync(join(tmpdir(), 'dart-queue-'));
afterAll(() => rmSync(dir, { recursive: true }));

let now = 0;
const ran: string[] = [];
/** A job that takes twice as long as it says. */
const job = (name: string, seconds: number) => ({
  title: name,
  product: join(dir, name),
  seconds,
  run: async () => {
    ran.push(name);
    now += 2000 * seconds;
    writeFileSync(join(dir, name), '');
  },
});

describe('playJobs', () => {
  it('does what is missing and says how long the rest takes, by how long it took before', async () => {
    writeFileSync(join(dir, 'first'), '');
    const said: string[] = [];
    const jobs = [job('first', 600), job('second', 60), job('third', 120)];
    const end = await playJobs(jobs, (line) => said.push(line), { clock: () => now });
    expect(end).toEqual({ done: 2, skipped: 1 });
    expect(ran).toEqual(['second', 'third']);
    expect(said).toEqual([
      '1 of 3 pieces of work are done already',
      '1 of 2: second; 3 min left',
      '2 of 2: third; 4 min left',
    ]);
    expect(await playJobs(jobs, () => {})).toEqual({ done: 0, skipped: 3 });
    expect(ran).toEqual(['second', 'third']);
  });

  it('goes on where it was stopped, and asks what is there whether it fits', async () => {
    const stop = new AbortController();
    const halted = {
      ...job('halted', 1),
      run: async () => {
        stop.abort(new Error('stopped'));
        stop.signal.throwIfAborted();
      },
    };
    await expect(playJobs([halted, job('after', 1)], () => {}, { stop: stop.signal })).rejects.toThrow('stopped');
    expect(existsSync(join(dir, 'after'))).toBe(false);
    const checked = {
      ...job('first', 1),
      check: () => {
        throw new Error('of other settings');
      },
    };
    await expect(playJobs([checked], () => {})).rejects.toThrow('of other settings');
  });
});

describe('two lanes', () => {
  const events: string[] = [];
  /** A job that ends when it is told to, or is stopped. */
  const held = (name: string, after?: string) => {
    let end = () => {};
    const run = async (stop?: AbortSignal) => {
      events.push(`${name} begins`);
      await new Promise<void>((resolve, reject) => {
        end = resolve;
        stop?.addEventListener('abort', () => reject(stop.reason));
      });
      writeFileSync(join(dir, name), '');
      events.push(`${name} ends`);
    };
    const needs = after === undefined ? {} : { after: join(dir, after) };
    return { ...{ title: name, product: join(dir, name), seconds: 1, run, ...needs }, end: () => end() };
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('work at once, and a job waits for what it begins with', async () => {
    const [a, b, c, d] = [held('a'), held('b', 'a'), held('c'), held('d', 'c')] as const;
    const played = playJobs([a, b, c, d], () => {}, { lanes: 2 });
    for (const job of [c, a, b, d]) {
      await turn();
      job.end();
    }
    await played;
    expect(events).toEqual([
      ...['a begins', 'c begins', 'c ends', 'd begins', 'a ends', 'b begins', 'b ends', 'd ends'],
    ]);
  });

  it('stop together where one fails', async () => {
    const failing = { ...held('failing'), run: () => Promise.reject(new Error('no disk')) };
    await expect(playJobs([held('beside'), failing], () => {}, { lanes: 2 })).rejects.toThrow('no disk');
    expect(existsSync(join(dir, 'beside'))).toBe(false);
  });
});

describe('spoken', () => {
  it('says seconds, minutes and hours', () => {
    expect([40, 89.6, 90, 720, 7199, 12_000].map(spoken)).toEqual([
      ...['40 s', '90 s', '2 min', '12 min', '2 h 0 min', '3 h 20 min'],
    ]);
  });
});
