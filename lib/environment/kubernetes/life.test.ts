import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { DartError } from '../../errors.ts';
import { PodLife } from './life.ts';

const never = new AbortController().signal;

function begin(): { life: PodLife; told: string[] } {
  const told: string[] = [];
  const settings = { imagePatienceMs: 60_000 } as never;
  const life = new PodLife({
    cluster: {} as never,
    settings,
    envId: 'kubernetes-3',
    tell: (line) => void told.push(line),
  });
  return { life, told };
}

function pod(status: V1Pod['status']): V1Pod {
  return { metadata: { name: 'dart-x' }, status };
}

const unschedulable = pod({
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }],
});
const ready = pod({ podIP: '10.0.0.7', conditions: [{ type: 'Ready', status: 'True' }] });

describe('the life of a pod', () => {
  it('is ready when Kubernetes says so', async () => {
    const { life, told } = begin();
    const waiting = life.ready(never);
    life.saw({ pod: unschedulable, gone: false });
    life.saw({ pod: ready, gone: false });
    expect(await waiting).toBe(ready);
    expect(told).toHaveLength(1);
  });

  it('says what it waited for when it took too long', () => {
    const { life } = begin();
    life.saw({ pod: unschedulable, gone: false });
    const error = life.tooSlow(300_000, new Error('aborted'));
    expect(error.describe()).toMatch(
      /^kubernetes-3 \(pod dart-x\): not ready after 300 s: no node has room .*0\/3 nodes are available\. Try: .*--cpu/,
    );
  });

  it('says why its server did not answer when Kubernetes had called it ready', () => {
    const { life } = begin();
    life.saw({ pod: ready, gone: false });
    life.remember(new Error('connect ECONNREFUSED'));
    expect(life.tooSlow(1000, new Error('aborted')).message).toBe('not ready after 1 s: connect ECONNREFUSED');
  });

  it('wakes whoever waits when it is lost, and aborts what is under way', async () => {
    const { life } = begin();
    const waiting = life.ready(never).catch((error: unknown) => error);
    life.saw({ pod: pod({ phase: 'Failed', reason: 'Evicted' }), gone: false });
    expect(await waiting).toBe(life.lost);
    expect(life.end.reason).toBe(life.lost);
  });

  it('goes on without a watch when it is up, and gives up when it is starting', async () => {
    const error = new DartError('not allowed to watch');
    const { life: up } = begin();
    up.saw({ pod: ready, gone: false });
    up.blind(error);
    expect(up.lost).toBeNull();
    const { life: starting } = begin();
    const waiting = starting.ready(never).catch((reason: unknown) => reason);
    starting.blind(error);
    expect(await waiting).toBe(error);
  });

  it('is not lost when we ended it', () => {
    const { life } = begin();
    life.saw({ pod: ready, gone: false });
    life.close();
    life.saw({ pod: ready, gone: true });
    expect(life.lost).toBeNull();
  });
});
