import { describe, expect, it } from 'vitest';
import { dpo, kto } from './index.ts';

const f64 = (...values: number[]) => Float64Array.from(values);

describe('dpo', () => {
  it('a pair without margin costs ln 2 and pulls by beta / 2', () => {
    const got = dpo({
      policyChosen: f64(-3),
      policyRejected: f64(-5),
      refChosen: f64(-2),
      refRejected: f64(-4),
      beta: 0.5,
    });
    expect(got.loss).toBeCloseTo(Math.log(2), 12);
    expect(got.dPolicyChosen[0]).toBe(-0.25);
    expect(got.dPolicyRejected[0]).toBe(0.25);
  });

  it('is a mean over pairs, and margins of a thousand do not overflow', () => {
    const got = dpo({
      policyChosen: f64(1000, -1000),
      policyRejected: f64(0, 0),
      refChosen: f64(0, 0),
      refRejected: f64(0, 0),
      beta: 1,
    });
    expect(got.loss).toBe(500);
    expect([...got.dPolicyChosen].map(Math.abs)).toEqual([0, 0.5]);
  });
});

describe('kto', () => {
  it('at the reference point both kinds cost half their weight and pull apart', () => {
    const got = kto({
      policy: f64(1, 1),
      ref: f64(0.5, 0.5),
      desirable: Uint8Array.of(1, 0),
      beta: 1,
      referencePoint: 0.5,
      undesirableWeight: 2,
    });
    expect(got.loss).toBe((0.5 + 1) / 2);
    expect([...got.dPolicy]).toEqual([-0.125, 0.25]);
  });

  it('refuses arrays of different lengths', () => {
    const args = { policy: f64(1, 1), ref: f64(1), desirable: Uint8Array.of(1, 0), beta: 1, referencePoint: 0 };
    expect(() => kto(args)).toThrow('Expected Float64Array of length 2 for ref but received Float64Array of length 1');
  });
});
