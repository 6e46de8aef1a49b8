import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchMetric } from '../stream/bench.ts';
import { Random } from '../stream/random.ts';
import type { Step, Trajectory } from '../stream/records.ts';
import { openStore } from './open.ts';
import type { Store } from './store.ts';

/** As many as a rollout command hands over at a time. */
const BATCH = 8;
const STEPS = 6;
const SECONDS = 2;
const RUN = `bench-${randomUUID().slice(0, 8)}`;

/**
 * Trajectories stored a second, and tasks whose statistics are read a second, in an SQLite file and, where
 * DART_BENCH_STORE names a store on a server (`mysql://USER@HOST/EMPTY_DATABASE`), in that one too.
 */
export async function bench(): Promise<BenchMetric[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dart-bench-'));
  try {
    const sqlite = await measure(`sqlite:${join(folder, 'dart.db')}`, 'SQLite');
    const server = process.env.DART_BENCH_STORE;
    if (!server) return sqlite;
    const metrics = await measure(server, 'MySQL');
    return [...sqlite, ...metrics.map((metric, i) => compared(metric, sqlite[i]!))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(url: string, name: string): Promise<BenchMetric[]> {
  const store = await openStore(url);
  try {
    const inserted = await insertedPerSecond(store);
    const read = await readPerSecond(store);
    return [
      { name: `store: trajectories of ${STEPS} steps, ${BATCH} at a time, ${name}`, value: inserted, unit: '1/s' },
      { name: `store: statistics of a task over 16 rollouts, ${name}`, value: read, unit: '1/s' },
    ];
  } finally {
    await store.close();
  }
}

async function insertedPerSecond(store: Store): Promise<number> {
  let count = 0;
  let seconds = 0;
  while (seconds < SECONDS) {
    const trajectories = batch(count);
    const start = performance.now();
    await store.insertTrajectories(trajectories);
    seconds += (performance.now() - start) / 1000;
    count += BATCH;
  }
  return count / seconds;
}

async function readPerSecond(store: Store): Promise<number> {
  const tasks = Array.from({ length: 20 }, (_, i) => `os/t${i}`);
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < 1000 * SECONDS) {
    await store.taskStatistics(tasks, 16);
    count += tasks.length;
  }
  return (1000 * count) / (performance.now() - start);
}

/** Each group has the members that one call stores. Ids are new in each run of the bench. */
function batch(from: number): Trajectory[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const group_id = `${RUN}/${from}`;
    const task_id = `os/t${(from / BATCH) % 20}`;
    return {
      ...{ type: 'trajectory', v: 1, trajectory_id: `${group_id}/${index}`, run_id: RUN, group_id },
      ...{ group_size: BATCH, rollout_index: index, task_id, domain: 'os', instruction: 'rename the report' },
      ...{ env_id: 'embedded-0', policy: { name: 'onnx', versions: [3] }, limits: { max_steps: 30 } },
      sampling: { temperature: 1, seed: 7 },
      steps: Array.from({ length: STEPS }, (_, step) => stepOf(`${group_id} ${index} ${step}`, step)),
      ...{ reward: index % 2, outcome: index % 2 === 1 ? 'success' : 'failure' },
      ...{ started_at: '2025-01-01T00:00:00.000Z', finished_at: '2025-01-01T00:00:20.000Z' },
    } as Trajectory;
  });
}

/** A step with a reply of forty tokens, as the embedded policy gives. */
function stepOf(seed: string, index: number): Step {
  const random = new Random(seed);
  const numbers = Array.from({ length: 40 }, () => random.next());
  const sha256 = createHash('sha256').update(seed).digest('hex');
  return {
    index,
    observation: { screenshot: { sha256, media_type: 'image/png', width: 160, height: 120 } },
    response: {
      text: `Thought: the report is in the list.\nAction: click(start_box='<|box_start|>(${index},9)<|box_end|>')`,
      token_ids: numbers.map((number) => Math.floor(number * 512)),
      logprobs: numbers.map((number) => -number),
      entropies: numbers.map((number) => number / 2),
      finish_reason: 'stop',
    },
    prompt: { history: index },
    model_version: 3,
    actions: [{ type: 'click', x: index, y: 9 }],
    policy_ms: 12,
    env_ms: 3,
  };
}

function compared(metric: BenchMetric, other: BenchMetric): BenchMetric {
  return { ...metric, against: other.name, ratio: metric.value / other.value };
}
