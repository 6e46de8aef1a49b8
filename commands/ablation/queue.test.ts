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

  it('knows that a training takes its time however quick the evaluations are, and the other way round', async () => {
    const said: string[] = [];
    let clock = 0;
    const timed = (name: string, kind: string, seconds: number, takes: number, atLeast?: number) => ({
      ...{ title: name, product: join(dir, name), kind, seconds, ...(atLeast === undefined ? {} : { atLeast }) },
      run: async () => {
        clock += 1000 * takes;
        writeFileSync(join(dir, name), '');
      },
    });
    const jobs = [
      // Evaluations take a tenth of what was thought, trainings what they must.
      ...[timed('e1', 'evaluation', 100, 10), timed('t1', 'training', 600, 450, 500)],
      ...[timed('e2', 'evaluation', 100, 10), timed('t2', 'training', 600, 900, 500)],
      ...[timed('e3', 'evaluation', 100, 10), timed('t3', 'training', 600, 900, 500)],
    ];
    await playJobs(jobs, (line) => said.push(line), { clock: () => clock });
    expect(said).toEqual([
      // 3 × 100 + 3 × 600 s.
      '1 of 6: e1; 35 min left',
      // 3 × 600 + 2 × 10.
      '2 of 6: t1; 30 min left',
      // A training took 450 s of 600, but none takes less than 500: 2 × 500 + 2 × 10.
      '3 of 6: e2; 17 min left',
      '4 of 6: t2; 17 min left',
      // Trainings have taken 1350 s of 1200: 600 × 1.125 + 10.
      '5 of 6: e3; 11 min left',
      '6 of 6: t3; 11 min left',
    ]);
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

  it('say what is left beside what is under way', async () => {
    const said: string[] = [];
    const long = held('long');
    const short = held('short');
    const last = { ...held('last'), seconds: 300 };
    const jobs = [{ ...long, seconds: 600 }, { ...short, seconds: 60 }, last];
    let now = 0;
    const played = playJobs(jobs, (line) => said.push(line), { lanes: 2, clock: () => now });
    await turn();
    now = 120_000;
    short.end();
    await turn();
    long.end();
    last.end();
    await played;
    expect(said.map((line) => line.split('; ')[1])).toEqual([
      // long 600 s; beside it short 60, then last 300.
      '10 min left',
      '10 min left',
      // short took twice its 60 s: so long 1200, of which 120 are over; last 600.
      '18 min left',
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
