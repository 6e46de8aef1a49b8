import { describe, expect, it } from 'vitest';
import { FakeGuest } from './fake.testing.ts';
import { withLatency } from './latency.ts';
import { parseEnvironmentSpec } from './open.ts';

describe('parseEnvironmentSpec', () => {
  it('reads count and latency', () => {
    expect(parseEnvironmentSpec('embedded:16')).toEqual({ driver: 'embedded', count: 16, latency: null });
    expect(parseEnvironmentSpec('embedded:2,latency=300,jitter=0.5,reset=2000')).toEqual({
      driver: 'embedded',
      count: 2,
      latency: { actionMs: 300, jitter: 0.5, resetMs: 2000, screenshotMs: 0 },
    });
  });

  it.each([
    ['embeded:4', 'unknown desktops "embeded:4"'],
    ['embedded', '"embedded" does not say how many desktops'],
    ['embedded:0', '"embedded:0" does not say how many desktops'],
    ['embedded:2:3', 'unknown desktops "embedded:2:3"'],
    ['embedded:2,latency=-1', 'cannot read "latency=-1"'],
    ['embedded:2,speed=1', 'cannot read "speed=1"'],
  ])('refuses %s', (spec, message) => expect(() => parseEnvironmentSpec(spec)).toThrow(message));
});

describe('withLatency', () => {
  it('passes everything on to the desktop, later', async () => {
    const bare = new FakeGuest('one');
    const slow = withLatency(bare, { actionMs: 2, resetMs: 1, screenshotMs: 1, jitter: 0.1 });
    await slow.reset(7);
    const action = slow.act({ type: 'wait' });
    expect(bare.log).toEqual(['reset 7']);
    await action;
    expect(bare.log).toEqual(['reset 7', 'wait']);
    await slow.writeFile('/a', new Uint8Array([1]));
    expect(await slow.readFile('/a')).toEqual(new Uint8Array([1]));
    expect((await slow.screenshot()).width).toBe(16);
    expect(slow.id).toBe('one');
  });
});
