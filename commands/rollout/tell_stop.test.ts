import { describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { Log } from '../../lib/cli/log.ts';
import { Interrupted, skippedCleanUps } from '../../lib/cli/stop.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { tellOfStop } from './tell_stop.ts';

function setUp(graceMs: number, count = 4) {
  const io = testIo();
  const log = new Log(io, { command: 'dart-rollout', level: 'warn', format: 'text' });
  const [stop, abort] = [new AbortController(), new AbortController()];
  const left = { count };
  const signals = { signal: stop.signal, abort: abort.signal };
  const forget = tellOfStop(log, {
    ...{ ...signals, graceMs, underWay: () => left.count, what: 'rollouts', skipped: 'a.ndjson is not written' },
  });
  return { io, stop, abort, left, forget };
}

describe('tellOfStop', () => {
  it('says for how long and for how many is waited, and how many were given up', () => {
    const { io, stop, abort, left, forget } = setUp(2000);
    stop.abort(new Interrupted('SIGINT'));
    expect(skippedCleanUps()).toEqual([
      'ended at once: up to 4 rollouts under way are lost, and a.ndjson is not written',
    ]);
    left.count = 3;
    abort.abort(stop.signal.reason);
    forget();
    expect(io.err()).toBe(
      [
        'dart-rollout: warning: waiting up to 2 s for 4 rollouts; Ctrl-C again ends at once',
        'dart-rollout: warning: 3 rollouts under way given up',
        '',
      ].join('\n'),
    );
    expect(skippedCleanUps()).toEqual([]);
  });

  it('says that it waits as long as it takes where that was asked for', () => {
    const { io, stop, forget } = setUp(1e308 * 1000);
    stop.abort(new Interrupted('SIGINT'));
    forget();
    expect(io.err()).toContain('waiting as long as it takes for 4 rollouts; Ctrl-C again ends at once');
  });

  it('says nothing where nothing is under way, the reader has left, or nobody stopped it', () => {
    for (const [count, reason] of [
      [0, new Interrupted('SIGTERM')],
      [4, new ReaderGone()],
    ] as const) {
      const { io, stop, abort, forget } = setUp(2000, count);
      stop.abort(reason);
      abort.abort(reason);
      forget();
      expect([io.err(), skippedCleanUps()]).toEqual(['', []]);
    }
    const { io, abort } = setUp(2000);
    abort.abort(new Error('it failed'));
    expect(io.err()).toBe('');
  });
});
