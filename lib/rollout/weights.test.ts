import { describe, expect, it } from 'vitest';
import { someTask } from '../policy/request.testing.ts';
import { GroupPlanner } from './planner.ts';
import { TaskProgress } from './task_progress.ts';
import { Turns } from './turns.ts';
import { taskWeights } from './weights.ts';

const tasks = [someTask('os/a'), someTask('os/b'), someTask('chrome/c'), someTask('chrome/d', { weight: 3 })];

describe('taskWeights', () => {
  it('multiplies the weight of a record, of its domain and of its id', () => {
    const weight = taskWeights(['chrome=2', 'os/b=0.5', 'c=.25'], tasks);
    expect(tasks.map(weight)).toEqual([1, 0.5, 0.5, 6]);
  });

  it.each(['chrome', '=2', 'chrome=', 'chrome=-1', 'chrome=two', 'writer=2'])('refuses %s', (pair) => {
    expect(() => taskWeights([pair], tasks)).toThrow(/cannot read|no task has/);
  });

  it('refuses a name twice, and a record whose weight is no number', () => {
    expect(() => taskWeights(['os=1', 'os=2'], tasks)).toThrow('os was given a weight before');
    expect(() => taskWeights([], tasks)(someTask('os/x', { weight: '2' }))).toThrow('the weight of task os/x');
  });
});

describe('Turns', () => {
  it('gives a weight of 2.5 five turns in two sweeps, of 0.1 one in ten, of 0 none', () => {
    const weights: Record<string, number> = { a: 2.5, b: 0.1, c: 0, d: 1 };
    const turns = new Turns(tasks, (task) => weights[task.id as string]!);
    const sweeps = Array.from({ length: 20 }, () => turns.sweep().map((task) => task.id));
    expect(sweeps.slice(0, 2)).toEqual([
      ['a', 'a', 'd'],
      ['a', 'a', 'a', 'd'],
    ]);
    const count = (id: string) => sweeps.flat().filter((one) => one === id).length;
    expect(['a', 'b', 'c', 'd'].map(count)).toEqual([50, 2, 0, 20]);
  });

  it('refuses weights that are no numbers, or all 0', () => {
    expect(() => new Turns(tasks, () => Number.NaN)).toThrow('a weight of at least 0 for task os/a');
    expect(() => new Turns(tasks, () => 0)).toThrow('every task has weight 0');
  });
});

describe('GroupPlanner with weights', () => {
  it('plans in proportion, with group ids of their own', async () => {
    const planner = new GroupPlanner({
      ...{ tasks, rollouts: 2, seed: 1, runId: 's', sweeps: 8, dynamicRollouts: false, dynamicLength: false },
      limits: { minSteps: 1, maxSteps: 5, slack: 2 },
      progress: new TaskProgress(16),
      weight: taskWeights(['os=0.5'], tasks),
    });
    const ids: string[] = [];
    for (let group = await planner.next(); group; group = await planner.next()) ids.push(group.group_id);
    const count = (task: string) => ids.filter((id) => id.startsWith(`s/${task}/`)).length;
    // Eight sweeps: 0.5, 0.5, 1 and 3 groups in each.
    expect(['os/a', 'os/b', 'chrome/c', 'chrome/d'].map(count)).toEqual([4, 4, 8, 24]);
    expect(new Set(ids).size).toBe(40);
  });
});
