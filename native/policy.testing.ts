import fc from 'fast-check';
import type { PolicyLossInput } from './policy.ts';

const float = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map(Math.fround);

/** A few tokens with everything switched on or off at random, in sequences of one to three tokens. */
export const anyPolicyInput: fc.Arbitrary<PolicyLossInput> = fc
  .record({
    lengths: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
    V: fc.integer({ min: 2, max: 37 }),
  })
  .chain(({ lengths, V }) => {
    const N = lengths.reduce((a, b) => a + b, 0);
    const floats = (min: number, max: number, length = N) =>
      fc.array(float(min, max), { minLength: length, maxLength: length }).map((values) => Float32Array.from(values));
    return fc.record({
      logits: floats(-4, 4, N * V),
      vocabulary: fc.constant(V),
      target: fc
        .array(fc.integer({ min: 0, max: V - 1 }), { minLength: N, maxLength: N })
        .map((t) => Int32Array.from(t)),
      mask: fc
        .array(fc.integer({ min: 0, max: 3 }), { minLength: N, maxLength: N })
        .map((m) => Uint8Array.from(m, (x) => (x ? 1 : 0))),
      scale: floats(0, 1),
      advantage: floats(-2, 2),
      oldLogp: fc.option(floats(-6, 0)),
      rolloutLogp: fc.option(floats(-6, 0)),
      refLogp: fc.option(floats(-6, 0)),
      sequenceOffsets: fc.constant(
        Int32Array.from([0, ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b, 0))]),
      ),
      temperature: float(0.5, 2),
      kind: fc.constantFrom('grpo', 'gspo', 'cispo', 'sft'),
      dualClip: fc.constantFrom(null, 3),
      tis: fc.constantFrom(
        null,
        { cap: 1 },
        { cap: 1.3, mode: 'mask' as const },
        { cap: 1.5, level: 'sequence' as const },
      ),
      kl: fc.constantFrom(
        null,
        { beta: 0.1 },
        { beta: 0.3, estimator: 'k1' as const },
        { beta: 0.2, estimator: 'k2' as const },
      ),
      entropyCoefficient: fc.constantFrom(0, 0.05),
    }) as fc.Arbitrary<PolicyLossInput>;
  });
