import { describe, expect, it } from 'vitest';
import { makeSample } from '../stream/records.testing.ts';
import { GroupGatherer } from './groups.ts';

const sample = (group: string, steps: number, trajectory: string, index: number) =>
  makeSample({ group_id: group, group_steps: steps, trajectory_id: trajectory, step_index: index });

describe('GroupGatherer', () => {
  it('hands a group out when its last step comes, whatever comes between', () => {
    const groups = new GroupGatherer();
    expect(groups.add(sample('a', 3, 't1', 0), 'x:1')).toBeNull();
    expect(groups.add(sample('b', 1, 't9', 0), 'x:2')?.groupId).toBe('b');
    expect(groups.add(sample('a', 3, 't2', 0), 'x:3')).toBeNull();
    expect(groups.held()).toEqual([{ groupId: 'a', have: 2, need: 3 }]);
    const whole = groups.add(sample('a', 3, 't1', 1), 'x:4');
    expect(whole?.samples.map((s) => [s.sample.trajectory_id, s.sample.step_index, s.where])).toEqual([
      ['t1', 0, 'x:1'],
      ['t2', 0, 'x:3'],
      ['t1', 1, 'x:4'],
    ]);
    expect(groups.held()).toEqual([]);
  });

  it('counts a step that comes twice once', () => {
    const groups = new GroupGatherer();
    groups.add(sample('a', 2, 't1', 0), 'x:1');
    expect(groups.add(sample('a', 2, 't1', 0), 'x:2')).toBeNull();
    expect(groups.add(sample('a', 2, 't1', 1), 'x:3')?.samples).toHaveLength(2);
  });

  it('never hands out a group that was settled', () => {
    const groups = new GroupGatherer(['old']);
    expect(groups.add(sample('old', 1, 't', 0), 'x:1')).toBeNull();
    expect(groups.add(sample('new', 1, 't', 0), 'x:2')).not.toBeNull();
    expect(groups.add(sample('new', 1, 't', 0), 'x:3')).toBeNull();
    expect(groups.repeated).toBe(2);
  });

  it('starts a group anew when it was formed anew', () => {
    const groups = new GroupGatherer();
    groups.add(sample('a', 2, 't1', 0), 'x:1');
    expect(groups.add(sample('a', 3, 't2', 0), 'x:2')).toBeNull();
    expect(groups.add(sample('a', 3, 't2', 1), 'x:3')).toBeNull();
    const whole = groups.add(sample('a', 3, 't3', 0), 'x:4');
    expect(whole?.samples.map((s) => s.sample.trajectory_id)).toEqual(['t2', 't2', 't3']);
    expect(groups.reformed).toBe(1);
  });
});
