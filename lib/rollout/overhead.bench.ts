import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedDriver } from '../environment/embedded.ts';
import { EnvironmentPool } from '../environment/pool.ts';
import type { ResettableGuest } from '../guest/guest.ts';
import { openStore, type Store } from '../store/index.ts';
import type { BenchMetric } from '../stream/bench.ts';
import { RecordWriter } from '../stream/writer.ts';
import { openPolicies } from './policies.ts';
import { runSession } from './session.ts';
import { workloadTasks } from './simulate/workload.ts';
import { stoppingOf } from './stopping.ts';

const DESKTOPS = 180;
const STEP_MS = 2000;
/** Of an episode; the desktops begin spread over the time that one takes, so that some end at any time. */
const STEPS = 15;
/** By then each desktop is in its first episode, and what starting costs, with the collection of its garbage, is over. */
const SETTLE_MS = STEPS * STEP_MS + 3000;
const MEASURED_MS = 20_000;
/** A run lasts for hours: so long steps of `HASTE_MS` make the code as warm as it is then. */
const WARM_UP_MS = 5000;
const HASTE_MS = 25;

/** Gives the work to do on these desktops; resolves when `stop` aborts. */
type Work = (stepMs: number, stop: AbortSignal) => Promise<void>;

/**
 * What scheduling costs, at 180 desktops with steps of 2 s and a policy that answers at once: the share of one core that
 * a session takes, less what a bare loop takes that drives the same desktops with the same policy and keeps nothing. The
 * desktops do nothing but sleep, which wakes the process 90 times a second: both have that. The session plans, leases,
 * reads replies, makes the records and writes them as JSON lines; once without and once with a store.
 */
export async function bench(): Promise<BenchMetric[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dart-bench-'));
  const store = await openStore(`sqlite:${join(folder, 'dart.db')}`);
  try {
    await during(session(store, 'warm-up'), HASTE_MS, () => sleep(WARM_UP_MS));
    const bare = await during(bareLoop, STEP_MS, cpuShare);
    const whole = await during(session(null, 'overhead'), STEP_MS, cpuShare);
    const stored = await during(session(store, 'stored'), STEP_MS, cpuShare);
    return [
      ...overhead('scheduler overhead', whole - bare),
      ...overhead('scheduler and store overhead', stored - bare),
      { name: 'rollout/bare loop over the same desktops', value: bare, unit: 'cores' },
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function overhead(name: string, value: number): BenchMetric[] {
  const actionsPerSecond = (1000 * DESKTOPS) / STEP_MS;
  return [
    { name: `rollout/${name}`, value, unit: 'cores', against: '1% of a core', ratio: value / 0.01 },
    { name: `rollout/${name}, per action`, value: (1e6 * value) / actionsPerSecond, unit: 'µs' },
  ];
}

async function during<T>(work: Work, stepMs: number, measure: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const running = work(stepMs, stop.signal);
  const measured = await measure();
  stop.abort();
  await running;
  return measured;
}

/** Share of a core that this process takes, once it is settled: user and system time of all its threads. */
async function cpuShare(): Promise<number> {
  await sleep(SETTLE_MS);
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await sleep(MEASURED_MS);
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000 / (performance.now() - began);
}

const [task] = workloadTasks({ tasks: { value: 1, source: 'bench' } });

/** Look, ask, act, and nothing else. */
async function bareLoop(stepMs: number, stop: AbortSignal): Promise<void> {
  const policy = (await openPolicies('fixed:wait', 1)).policies[0]!;
  const drive = async (guest: ResettableGuest) => {
    while (!stop.aborted) {
      await guest.reset(1);
      for (let stepIndex = 0; stepIndex < STEPS && !stop.aborted; stepIndex++) {
        const frames = [await guest.screenshot()];
        const { screen, accessibility } = guest;
        const rest = { screen, accessibility, history: [], maxSteps: STEPS, sampling: { temperature: 1 }, seed: 1 };
        await policy.act({ task: task!, instruction: task!.instruction, frames, stepIndex, ...rest });
        await guest.act({ type: 'wait' });
      }
    }
  };
  await Promise.all(Array.from({ length: DESKTOPS }, (_, place) => drive(sleepyGuest(stepMs, `bare-${place}`, place))));
}

function session(store: Store | null, runId: string): Work {
  return async (stepMs, stop) => {
    const environments = new EnvironmentPool([
      new EmbeddedDriver(DESKTOPS, (id, place) => sleepyGuest(stepMs, id, place)),
    ]);
    const output = new RecordWriter(new Writable({ write: (_chunk, _encoding, done) => done() }));
    await runSession({
      ...{ runId, environments, policy: 'fixed:wait', workers: 1, rollouts: 8, follow: true, mode: 'async' },
      tasks: workloadTasks({ tasks: { value: 203, source: 'bench' } }),
      ...{ batchGroups: 8, versionWaitMs: 0, sync: 'one', syncIntervalMs: 1000, seed: 1, evaluation: false },
      ...{ dynamicRollouts: true, dynamicLength: true, limits: { minSteps: 5, maxSteps: STEPS, slack: 2 } },
      ...{ successWindow: 16, sampling: { temperature: 1 }, onParseError: 'observe', failAtLimit: false },
      ...{
        blobs: { putSync: () => 'a'.repeat(64) },
        store,
        write: (trajectory, json) => output.write(trajectory, json),
      },
      notes: { warn: () => {}, info: () => {}, progress: () => {} },
      stopping: stoppingOf(stop, 0, () => false),
    });
    await environments.close();
  };
}

function sleepyGuest(stepMs: number, id: string, place: number): ResettableGuest {
  const screen = { width: 16, height: 12 };
  const frame = { ...screen, rgb: () => new Uint8Array(576), png: () => new Uint8Array(64) };
  const accessibility = async () => ({ role: 'desktop-frame', name: '', states: [], children: [] });
  let late = (place * STEPS * stepMs) / DESKTOPS;
  const reset = async () => {
    await sleep(late);
    late = 0;
  };
  const act = async () => void (await sleep(stepMs));
  const asked = { id, screen, reset, act, accessibility, screenshot: async () => frame, close: async () => {} };
  // Tasks without set-up ask nothing else of it.
  return asked as Partial<ResettableGuest> as ResettableGuest;
}
