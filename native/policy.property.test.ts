import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bf16FromNumbers, numbersFromBf16 } from './golden/bf16.ts';
import { logpEntropy, type PolicyLossInput, policyLoss } from './index.ts';
import { anyPolicyInput } from './policy.testing.ts';
import { numericalGradient, referenceLoss } from './reference.testing.ts';

/** True near an edge of the loss, where a difference quotient straddles two pieces. */
function nearEdge(got: { ratio: Float32Array; weight: Float32Array }, c: PolicyLossInput): boolean {
  const edges = [1 - 0.2, 1 + 0.28, c.dualClip ?? Number.POSITIVE_INFINITY];
  const closeTo = (x: number, edge: number) => Math.abs(x - edge) < 1e-2 * edge;
  return (
    got.ratio.some((ratio) => edges.some((edge) => closeTo(ratio, edge))) ||
    got.weight.some((w) => closeTo(w, c.tis?.cap ?? 0))
  );
}

function largest(values: ArrayLike<number>): number {
  return Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

function permuteRows(c: PolicyLossInput, order: readonly number[]): PolicyLossInput {
  const take = <T extends Float32Array | Int32Array | Uint8Array>(array: T | null | undefined): T | null =>
    array ? (array.map((_, i) => array[order[i]!]!) as T) : null;
  const V = c.vocabulary;
  return {
    ...c,
    logits: (c.logits as Float32Array).map((_, i) => c.logits[order[Math.floor(i / V)]! * V + (i % V)]!),
    target: take(c.target)!,
    mask: take(c.mask),
    scale: take(c.scale)!,
    advantage: take(c.advantage),
    oldLogp: take(c.oldLogp),
    rolloutLogp: take(c.rolloutLogp),
    refLogp: take(c.refLogp),
  };
}

describe('policyLoss, whatever the options', () => {
  it('agrees with the formulas in double, and its gradient with finite differences', () => {
    fc.assert(
      fc.property(anyPolicyInput, (c) => {
        const got = policyLoss(c);
        const reference = referenceLoss(c);
        const want = reference.loss(c.logits);
        const size = Math.max(1, Math.abs(want), largest(got.tokenLoss));
        fc.pre(c.tis?.mode !== 'mask' || !nearEdge(got, { ...c, dualClip: null }));
        expect(Math.abs(got.statistics.loss - want)).toBeLessThan(2e-5 * size);
        fc.pre(!nearEdge(got, c));
        const slopes = numericalGradient(reference.loss, c.logits);
        const worst = largest(slopes.map((slope, i) => slope - got.dlogits![i]!));
        expect(worst).toBeLessThan(1e-4 * Math.max(1, largest(slopes)));
      }),
      { numRuns: 300 },
    );
  });

  it('in place and separate, again and again: the same bits', () => {
    fc.assert(
      fc.property(anyPolicyInput, (c) => {
        const once = policyLoss(c);
        const again = policyLoss({ ...c, dlogits: c.logits.slice() as Float32Array });
        const logits = c.logits.slice() as Float32Array;
        const inPlace = policyLoss({ ...c, logits, dlogits: logits });
        expect(again).toEqual(once);
        expect(inPlace).toEqual(once);
      }),
    );
  });

  it('does not depend on the order of rows when tokens share nothing', () => {
    const tokenWise = anyPolicyInput.filter((c) => c.kind !== 'gspo' && c.tis?.level !== 'sequence');
    fc.assert(
      fc.property(tokenWise, fc.infiniteStream(fc.nat()), (c, keys) => {
        const key = c.target.reduce<number[]>((list) => [...list, keys.next().value as number], []);
        const order = key.map((_, i) => i).sort((a, b) => key[a]! - key[b]! || a - b);
        const got = policyLoss(c);
        const moved = policyLoss(permuteRows(c, order));
        expect([...moved.tokenLoss]).toEqual(order.map((from) => got.tokenLoss[from]));
        const rows = order.flatMap((from) => [...got.dlogits!.slice(from * c.vocabulary, (from + 1) * c.vocabulary)]);
        expect([...moved.dlogits!]).toEqual(rows);
        expect(moved.statistics.tokens).toBe(got.statistics.tokens);
        expect(moved.statistics.loss).toBeCloseTo(got.statistics.loss, 9);
      }),
    );
  });

  it('each row of the gradient adds up to 0', () => {
    fc.assert(
      fc.property(anyPolicyInput, (c) => {
        const { dlogits } = policyLoss(c);
        for (let row = 0; row < c.target.length; row++) {
          const own = dlogits!.slice(row * c.vocabulary, (row + 1) * c.vocabulary) as Float32Array;
          expect(Math.abs(own.reduce((a, b) => a + b, 0))).toBeLessThan(1e-5 * Math.max(1, largest(own)));
        }
      }),
    );
  });

  it('rows without loss are exactly 0 and the rest does not know of them', () => {
    fc.assert(
      fc.property(anyPolicyInput, (c) => {
        const got = policyLoss(c);
        const noisy = c.logits.map((x, i) => (c.mask![Math.floor(i / c.vocabulary)] ? x : Number.NaN)) as Float32Array;
        const masked = policyLoss({ ...c, logits: noisy });
        expect(masked).toEqual(got);
        c.mask!.forEach((m, row) => {
          if (m) return;
          expect(got.dlogits!.slice(row * c.vocabulary, (row + 1) * c.vocabulary).every((x) => Object.is(x, 0))).toBe(
            true,
          );
        });
      }),
    );
  });

  it('bf16 logits give what the same numbers in f32 give, rounded at the end', () => {
    fc.assert(
      fc.property(anyPolicyInput, (c) => {
        const half = bf16FromNumbers(c.logits);
        const single = policyLoss({ ...c, logits: numbersFromBf16(half) });
        const mixed = policyLoss({ ...c, logits: half, dlogits: new Float32Array(half.length) });
        expect(mixed).toEqual(single);
        const both = policyLoss({ ...c, logits: half });
        expect(both.dlogits).toEqual(bf16FromNumbers(single.dlogits!));
      }),
    );
  });

  it('logpEntropy gives the same log-probabilities and entropies', () => {
    fc.assert(
      fc.property(anyPolicyInput, (c) => {
        const all = policyLoss({ ...c, mask: null });
        const { logits, vocabulary, target, temperature } = c;
        const { logp, entropy } = logpEntropy({ logits, vocabulary, target, temperature });
        expect(logp).toEqual(all.logp);
        expect(entropy).toEqual(all.entropy);
      }),
    );
  });
});

describe('long rows', () => {
  it('a row longer than a block sums to 1 and keeps its digits', () => {
    const V = 152_064;
    const logits = Float32Array.from({ length: V }, (_, j) => Math.sin(j) * 8);
    const { logp, entropy, dlogits } = policyLoss({
      logits,
      vocabulary: V,
      target: Int32Array.of(777),
      scale: Float32Array.of(1),
    });
    const total = logits.reduce((sum, x) => sum + Math.exp(x), 0);
    const mean = logits.reduce((sum, x) => sum + (Math.exp(x) / total) * x, 0);
    expect(Math.abs(logp[0]! - (logits[777]! - Math.log(total)))).toBeLessThan(2e-6);
    expect(Math.abs(entropy[0]! - (Math.log(total) - mean))).toBeLessThan(2e-6);
    expect(Math.abs((dlogits as Float32Array).reduce((a, b) => a + b, 0))).toBeLessThan(1e-6);
    expect(dlogits![777]).toBeCloseTo(Math.exp(logp[0]!) - 1, 6);
  });
});
