import type { V1ContainerState, V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { healthOf } from './health.ts';

const look = (status: V1PodStatus, metadata = {}, deleted = false) => healthOf({ status, metadata }, deleted);
const container = (state: V1ContainerState, lastState: V1ContainerState = {}): V1PodStatus => ({
  containerStatuses: [{ name: 'desktop', image: '', imageID: '', ready: false, restartCount: 0, state, lastState }],
});
const condition = (type: string, status: string, reason?: string, message?: string): V1PodStatus => {
  const conditions: V1PodCondition[] = [{ type, status, reason, message }];
  return { conditions };
};

describe('the health of a pod', () => {
  it('is ready with the condition and an address', () => {
    expect(look({ phase: 'Running', podIP: '10.0.0.7', ...condition('Ready', 'True') })).toEqual({ state: 'ready' });
    expect(look({ phase: 'Running', ...condition('Ready', 'True') })).toEqual({ state: 'waiting' });
    expect(look({ phase: 'Running', podIP: '10.0.0.7', ...condition('Ready', 'False') })).toEqual({ state: 'waiting' });
  });

  it.each<[string, V1PodStatus, RegExp, RegExp]>([
    [
      'Unschedulable',
      condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes'),
      /no node .*0\/3 nodes/,
      /--cpu/,
    ],
    ['ImagePullBackOff', container({ waiting: { reason: 'ImagePullBackOff' } }), /cannot be pulled/, /--pull-secret/],
    ['InvalidImageName', container({ waiting: { reason: 'InvalidImageName' } }), /cannot start/, /--image/],
    [
      'CrashLoopBackOff',
      container({ waiting: { reason: 'CrashLoopBackOff' } }, { terminated: { exitCode: 137, reason: 'OOMKilled' } }),
      /keeps ending with status 137 \(OOMKilled\), CrashLoopBackOff/,
      /--previous/,
    ],
  ])('waits, and says why: %s', (_name, status, why, hint) => {
    const health = look({ phase: 'Pending', ...status });
    expect(health.state).toBe('waiting');
    expect(health).toMatchObject({ why: expect.stringMatching(why), hint: expect.stringMatching(hint) });
  });

  it.each<[string, V1PodStatus, RegExp]>([
    ['Evicted', { phase: 'Failed', reason: 'Evicted', message: 'low on memory' }, /it was evicted: low on memory/],
    ['OOMKilled', container({ terminated: { exitCode: 137, reason: 'OOMKilled' } }), /more memory than its limit/],
    ['NodeLost', { phase: 'Running', reason: 'NodeLost' }, /its node is lost/],
    ['Unknown', { phase: 'Unknown' }, /its node is lost/],
    ['a crash', container({ terminated: { exitCode: 3, reason: 'Error' } }), /ended with status 3 \(Error\)/],
    ['admission', { phase: 'Failed', reason: 'OutOfcpu', message: 'no cpu' }, /it ended: OutOfcpu: no cpu/],
  ])('is gone: %s', (_name, status, why) => {
    expect(look(status)).toMatchObject({
      state: 'gone',
      why: expect.stringMatching(why),
      hint: expect.stringMatching(/./),
    });
  });

  it.each<[string, RegExp]>([
    ['EvictionByEvictionAPI', /drained/],
    ['PreemptionByScheduler', /higher priority/],
    ['DeletionByTaintManager', /node is lost/],
    ['TerminationByKubelet', /its node ended it/],
  ])('is gone when it is deleted: %s', (reason, why) => {
    const status = { phase: 'Running', ...condition('DisruptionTarget', 'True', reason) };
    expect(look(status, { deletionTimestamp: new Date() })).toMatchObject({ why: expect.stringMatching(why) });
    expect(look(status, {}, true)).toMatchObject({ why: expect.stringMatching(why) });
  });

  it('is gone when somebody deletes it without a word', () => {
    expect(look({ phase: 'Running' }, {}, true)).toMatchObject({ state: 'gone', why: 'somebody deleted the pod' });
  });

  it('is not about other containers in the pod', () => {
    const status = {
      ...container({ running: {} }),
      phase: 'Running',
      podIP: '10.0.0.7',
      ...condition('Ready', 'True'),
    };
    const sidecar = { name: 'proxy', image: '', imageID: '', ready: false, restartCount: 0 };
    const ended = { ...sidecar, state: { terminated: { exitCode: 1, reason: 'Error' } } };
    expect(look({ ...status, containerStatuses: [ended, ...status.containerStatuses!] })).toEqual({ state: 'ready' });
  });

  it('knows answers of a registry that stay the same', () => {
    const trouble = (message: string) => look(container({ waiting: { reason: 'ErrImagePull', message } }));
    expect(trouble('manifest unknown')).toMatchObject({ trouble: 'refused' });
    expect(trouble('dial tcp: i/o timeout')).toMatchObject({ trouble: 'image' });
  });
});
