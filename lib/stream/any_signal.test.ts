import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { AnySignal } from './any_signal.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Resolves with the reason when the signal aborts, whatever is collected meanwhile. */
async function reasonOf(listen: (done: (reason: unknown) => void) => void): Promise<unknown> {
  let reason: unknown;
  listen((given) => {
    reason = given;
  });
  while (reason === undefined) {
    await sleep(5);
    collectGarbage();
  }
  return reason;
}

describe('AnySignal', () => {
  it('aborts with the first of its sources, and with no other', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const any = new AnySignal([first.signal, undefined, second.signal]);
    expect(any.signal.aborted).toBe(false);
    second.abort('second');
    first.abort('first');
    expect([any.signal.reason, any.late]).toEqual(['second', false]);
    expect(new AnySignal([new AbortController().signal, first.signal]).signal.reason).toBe('first');
  });

  it('aborts when its time is over, though nobody holds it', async () => {
    const open = new AbortController();
    const reason = await reasonOf((done) => {
      const { signal } = new AnySignal([open.signal], 50);
      signal.addEventListener('abort', () => done(signal.reason));
    });
    expect(reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('ends a request that nobody else holds its signal for', async () => {
    const run = new AbortController();
    const request = new Request('http://localhost/', {
      signal: new AnySignal([new AnySignal([run.signal]).signal]).signal,
    });
    collectGarbage();
    await sleep(5);
    collectGarbage();
    run.abort('stopped');
    expect(request.signal.aborted).toBe(true);
  });

  it('leaves nothing with its sources when it has aborted or was released', () => {
    const [run, other] = [new AbortController(), new AbortController()];
    const released = new AnySignal([run.signal], 60_000);
    const aborted = new AnySignal([run.signal, other.signal]);
    expect(getEventListeners(run.signal, 'abort')).toHaveLength(2);
    released.release();
    other.abort();
    expect(getEventListeners(run.signal, 'abort')).toHaveLength(0);
    run.abort();
    expect([released.signal.aborted, aborted.late]).toEqual([false, false]);
  });
});
