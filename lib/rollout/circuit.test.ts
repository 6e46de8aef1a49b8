import { describe, expect, it } from 'vitest';
import { Circuit } from './circuit.ts';

function setUp() {
  const clock = { ms: 0 };
  const circuit = new Circuit({ failures: 3, coolDownMs: 100, longestCoolDownMs: 300, now: () => clock.ms });
  /** When it is due again, looking every 50 ms. */
  const waits = () => {
    const began = clock.ms;
    while (!circuit.due) clock.ms += 50;
    return clock.ms - began;
  };
  return { clock, circuit, waits };
}

describe('Circuit', () => {
  it('opens after so many failures in a row', () => {
    const { circuit } = setUp();
    expect([circuit.failed(), circuit.failed()]).toEqual([false, false]);
    circuit.succeeded();
    expect([circuit.failed(), circuit.failed(), circuit.state]).toEqual([false, false, 'closed']);
    expect([circuit.failed(), circuit.state]).toEqual([true, 'open']);
  });

  it('opens at once when it is certain', () => {
    const { circuit } = setUp();
    expect([circuit.failed(true), circuit.state]).toEqual([true, 'open']);
  });

  it('is closed by a trial that goes well, and waits twice as long after one that does not', () => {
    const { circuit, waits } = setUp();
    circuit.failed(true);
    expect(waits()).toBe(100);
    circuit.tryAgain();
    expect([circuit.state, circuit.failed(), circuit.state]).toEqual(['half-open', true, 'open']);
    expect(waits()).toBe(200);
    circuit.tryAgain();
    circuit.failed();
    expect(waits()).toBe(300);
    circuit.tryAgain();
    expect([circuit.succeeded(), circuit.state]).toEqual([true, 'closed']);
    // From then on it is as before.
    circuit.failed(true);
    expect(waits()).toBe(100);
  });

  it('waits longer after each look that finds it down', () => {
    const { circuit, waits } = setUp();
    circuit.failed(true);
    expect(waits()).toBe(100);
    circuit.failed();
    expect(waits()).toBe(200);
  });

  it('is not closed by the late answer of a request from before', () => {
    const { circuit } = setUp();
    circuit.failed(true);
    expect([circuit.succeeded(), circuit.state]).toEqual([false, 'open']);
  });
});
