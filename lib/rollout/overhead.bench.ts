import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedDriver } from '../environment/embedded.ts';
import { EnvironmentPool } from '../environment/pool.ts';
import type { ResettableGuest } from '../guest/guest.ts';
import type { BenchMetric } from '../stream/bench.ts';
import { runSession } from './session.ts';
import { workloadTasks } from './simulate/workload.ts';
import { stoppingOf } from './stopping.ts';

const DESKTOPS = 180;
const STEP_MS = 2000;
/** What starting costs, and the collection of its garbage, is over by then. */
const WARM_UP_MS = 10_000;
const MEASURED_MS = 20_000;

/**
 * What scheduling costs: the share of one core that a session takes at 180 desktops with steps of 2 s and a policy that
 * answers at once. The desktops do nothing but sleep; what the same sleeps cost in a process without a session (90 times
 * a second a timer wakes it) is measured first and taken off.
 */
export async function bench(): Promise<BenchMetric[]> {
  const sleeping = await sleepers();
  const whole = await session();
  const overhead = whole - sleeping;
  const actionsPerSecond = (1000 * DESKTOPS) / STEP_MS;
  return [
    {
      name: 'rollout/scheduler overhead',
      value: overhead,
      unit: 'cores',
      against: '1% of a core',
      ratio: overhead / 0.01,
    },
    { name: 'rollout/scheduler and sleeping desktops', value: whole, unit: 'cores' },
    { name: 'rollout/sleeping desktops alone', value: sleeping, unit: 'cores' },
    { name: 'rollout/scheduler per action', value: (1e6 * overhead) / actionsPerSecond, unit: 'µs' },
  ];
}

/** Share of a core that this process takes, once it is warm. */
async function cpuShare(): Promise<number> {
  await sleep(WARM_UP_MS);
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await sleep(MEASURED_MS);
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000 / (performance.now() - began);
}

async function sleepers(): Promise<number> {
  let over = false;
  const all = Array.from({ length: DESKTOPS }, async (_, place) => {
    await sleep((place * STEP_MS) / DESKTOPS);
    while (!over) await sleep(STEP_MS);
  });
  const share = await cpuShare();
  over = true;
  await Promise.all(all);
  return share;
}

async function session(): Promise<number> {
  const environments = new EnvironmentPool([new EmbeddedDriver(DESKTOPS, sleepyGuest)]);
  const stop = new AbortController();
  const source = 'bench';
  const running = runSession({
    ...{ runId: 'overhead', environments, policy: 'fixed:wait', workers: 1, rollouts: 8, follow: true, mode: 'async' },
    tasks: workloadTasks({ tasks: { value: 203, source } }),
    ...{ batchGroups: 8, versionWaitMs: 0, sync: 'off', syncIntervalMs: 1000, seed: 1, evaluation: false },
    ...{ dynamicRollouts: true, dynamicLength: true, limits: { minSteps: 5, maxSteps: 30, slack: 2 } },
    ...{ successWindow: 16, sampling: { temperature: 1 }, onParseError: 'observe', failAtLimit: false },
    ...{ blobs: { putSync: () => 'a'.repeat(64) }, store: null, write: async () => {} },
    notes: { warn: () => {}, info: () => {}, progress: () => {} },
    stopping: stoppingOf(stop.signal, 0, () => false),
  });
  const share = await cpuShare();
  stop.abort();
  await running;
  await environments.close();
  return share;
}

function sleepyGuest(id: string, place: number): ResettableGuest {
  const screen = { width: 16, height: 12 };
  const frame = { ...screen, rgb: () => new Uint8Array(576), png: () => new Uint8Array(64) };
  const nothing = async () => {};
  const none = async () => null;
  const ran = async () => ({ output: '', error: '', returncode: 0 });
  return {
    ...{ id, screen, launch: nothing, openFile: nothing, activateWindow: nothing, closeWindow: nothing },
    ...{ writeFile: nothing, close: nothing, setWallpaper: nothing, startRecording: nothing },
    ...{ readFile: none, terminalOutput: none, listDirectory: none, windowSize: none, wallpaper: none },
    ...{ execute: ran, runPython: ran, runBash: ran, windows: async () => [], cursorPosition: async () => [0, 0] },
    ...{ desktopPath: async () => '/', platform: async () => 'Linux', endRecording: async () => new Uint8Array() },
    reset: async () => void (await sleep((place * STEP_MS) / DESKTOPS)),
    act: async () => void (await sleep(STEP_MS)),
    screenshot: async () => frame,
    accessibility: async () => ({ role: 'desktop-frame', name: '', states: [], children: [] }),
  };
}
