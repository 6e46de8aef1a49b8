import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createEmbeddedGuest } from '../desktop/guest.ts';
import type { Action } from '../stream/action.ts';
import { endsEpisode } from '../stream/action.ts';
import type { Task } from '../stream/records.ts';
import { evaluateTask } from './evaluate.ts';
import { type ExpertStep, expertAction, expertOf } from './expert.ts';
import { loadTasks } from './load.ts';
import { setupTask } from './setup.ts';

const ROOT = join(import.meta.dirname, '..', '..', 'fixtures', 'tasks');
const DOMAINS = [
  'chrome',
  'gimp',
  'libreoffice_calc',
  'libreoffice_impress',
  'libreoffice_writer',
  'multi_apps',
  'os',
  'thunderbird',
  'vlc',
  'vs_code',
];
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 1_000_001];

const guest = createEmbeddedGuest('suite');

/** Plays the steps on the task's fresh desktop and scores what is left. */
async function play(task: Task, steps: ExpertStep[], seed: number): Promise<number> {
  await guest.reset(seed);
  await setupTask(task, guest);
  let lastAction: Action | null = null;
  for (const [index, step] of steps.entries()) {
    try {
      lastAction = expertAction(step, await guest.accessibility());
    } catch (cause) {
      throw new Error(`${task.task_id}, seed ${seed}, step ${index}: ${(cause as Error).message}`, { cause });
    }
    if (endsEpisode(lastAction)) break;
    await guest.act(lastAction);
  }
  return evaluateTask(task, guest, { lastAction });
}

async function read(folder: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of loadTasks(join(ROOT, folder))) tasks.push(task);
  return tasks;
}

const train = await read('embedded');
const heldout = await read('heldout');
const isInfeasible = (task: Task) => task.evaluator.func === 'infeasible';
const stepsOf = (task: Task) => expertOf(task) ?? [];
const counts = (tasks: Task[]) =>
  Object.fromEntries(DOMAINS.map((domain) => [domain, tasks.filter((task) => task.domain === domain).length]));

describe('the embedded suite', () => {
  it('is up to date with its tables', async () => {
    const { outdated } = await import(pathToFileURL(join(ROOT, 'make_tasks.mjs')).href);
    expect(outdated(ROOT)).toEqual([]);
  });

  it('has at least 50 tasks, 4 a domain, and as many held out', () => {
    expect(train.length).toBeGreaterThanOrEqual(50);
    expect(Math.min(...Object.values(counts(train)))).toBeGreaterThanOrEqual(4);
    expect(counts(heldout)).toEqual(counts(train));
  });

  it('has infeasible tasks among the others, and experts of 1 to 8 steps', () => {
    expect(train.filter(isInfeasible).length).toBeGreaterThanOrEqual(4);
    expect(new Set(train.filter(isInfeasible).map((task) => task.domain)).size).toBeGreaterThanOrEqual(4);
    const lengths = train.map((task) => stepsOf(task).length);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(8);
    const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    expect(mean).toBeGreaterThan(3.4);
    expect(mean).toBeLessThan(4.6);
  });

  it('gives every task its own id and instruction', () => {
    const all = [...train, ...heldout];
    expect(new Set(all.map((task) => task.task_id)).size).toBe(all.length);
    // Within a set, "turn on Auto Save" of two applications would be two tasks with one instruction.
    expect(new Set(all.map((task) => task.instruction)).size).toBe(all.length);
  });

  it.each([...train, ...heldout].map((task) => [task.task_id, task] as const))('%s is short and plain', (_id, task) => {
    expect(task.instruction.split(/\s+/).length).toBeLessThanOrEqual(16);
    expect(task.instruction).toMatch(/^[A-Za-z0-9 .,=+*()-]+$/);
    const steps = stepsOf(task);
    expect(steps.at(-1)?.action).toBe(isInfeasible(task) ? 'fail' : 'finished');
    for (const { text } of steps) if (text !== undefined) expect(text).toMatch(/^[a-z0-9 .,\-_=+:/@()*\n]{1,10}$/);
    // What is typed can be read in the instruction.
    const typed = steps.flatMap((step) => (step.text === undefined ? [] : [step.text.trim()]));
    for (const text of typed) expect(task.instruction).toContain(text);
  });
});

describe.each([
  ['training', train],
  ['held-out', heldout],
])('%s tasks on the embedded desktop', (_name, tasks) => {
  it.each(tasks.map((task) => [task.task_id, task] as const))('%s: its expert scores 1', async (_id, task) => {
    for (const seed of SEEDS) {
      expect({ seed, score: await play(task, stepsOf(task), seed) }).toEqual({ seed, score: 1 });
    }
  });

  it('score 0 for saying finished at once', async () => {
    for (const task of tasks)
      expect([task.task_id, await play(task, [{ action: 'finished' }], 1)]).toEqual([task.task_id, 0]);
  });

  it('score 1 for failing at once exactly where they are infeasible', async () => {
    for (const task of tasks) {
      const score = await play(task, [{ action: 'fail' }], 1);
      expect([task.task_id, score]).toEqual([task.task_id, Number(isInfeasible(task))]);
    }
  });
});
