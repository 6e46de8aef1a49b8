import { describe, expect, it } from 'vitest';
import { Random } from '../../stream/random.ts';
import { GREATEST_TEMPERATURE, LEAST_TEMPERATURE } from '../../stream/temperature.ts';
import { draw } from './draw.ts';

/** ln of 1, 2, 5 among excluded entries: probabilities 1/8, 2/8, 5/8. */
const logits = Float32Array.from([9, Math.log(1), Math.log(2), Math.log(5), 9, Number.NEGATIVE_INFINITY]);
const allowed = [[1, 4]] as const;

function frequencies(drawing: Parameters<typeof draw>[3], count = 4000): number[] {
  const random = new Random('draws');
  const seen = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < count; i++) seen[draw(logits, 0, allowed, drawing, random).token]! += 1 / count;
  return seen;
}

describe('draw', () => {
  it('draws by probability, and only what is allowed', () => {
    const seen = frequencies({ temperature: 1 });
    [0, 1 / 8, 2 / 8, 5 / 8, 0, 0].forEach((p, i) => {
      expect(seen[i]!).toBeCloseTo(p, 1);
    });
    expect(seen[0]! + seen[4]! + seen[5]!).toBe(0);
  });

  it('gives the log-probability and the entropy: H(1/8, 2/8, 5/8) = 0.9003 nats', () => {
    const drawn = draw(logits, 0, allowed, { temperature: 1 }, new Random(3));
    expect(drawn.logprob).toBeCloseTo(Math.log([0, 1, 2, 5][drawn.token]! / 8), 6);
    expect(drawn.entropy).toBeCloseTo(0.90026, 4);
  });

  it('at temperature 2 takes square roots of the odds', () => {
    const drawn = draw(logits, 0, allowed, { temperature: 2 }, new Random(3));
    const mass = 1 + Math.SQRT2 + Math.sqrt(5);
    expect(drawn.logprob).toBeCloseTo(Math.log(Math.sqrt([0, 1, 2, 5][drawn.token]!) / mass), 6);
  });

  it('draws at the least and at the greatest temperature', () => {
    const wide = Float32Array.from([9, -1e30, 0, 1e30]);
    for (const temperature of [LEAST_TEMPERATURE, GREATEST_TEMPERATURE]) {
      expect(draw(wide, 0, allowed, { temperature }, new Random(1))).toEqual({ token: 3, logprob: 0, entropy: 0 });
    }
    const flat = draw(logits, 0, allowed, { temperature: GREATEST_TEMPERATURE }, new Random(1));
    expect(flat.entropy).toBeCloseTo(Math.log(3), 6);
    const sharp = draw(logits, 0, allowed, { temperature: LEAST_TEMPERATURE }, new Random(1));
    expect(sharp).toMatchObject({ token: 3, logprob: 0 });
  });

  it('at temperature 0 takes the likeliest, with its probability at temperature 1', () => {
    const drawn = draw(logits, 0, allowed, { temperature: 0 }, new Random(1));
    expect(drawn.token).toBe(3);
    expect(drawn.logprob).toBeCloseTo(Math.log(5 / 8), 6);
  });

  it('top-k and top-p narrow the draw, not the reported distribution', () => {
    expect(frequencies({ temperature: 1, topK: 2 })[1]).toBe(0);
    expect(frequencies({ temperature: 1, topP: 0.6 })[3]).toBeCloseTo(1, 10);
    expect(frequencies({ temperature: 1, topP: 0.7 })[1]).toBe(0);
    expect(draw(logits, 0, allowed, { temperature: 1, topK: 1 }, new Random(1)).logprob).toBeCloseTo(
      Math.log(5 / 8),
      6,
    );
  });

  it('excluded entries have no mass, and no entropy', () => {
    const drawn = draw(
      logits,
      0,
      [
        [3, 4],
        [5, 6],
      ],
      { temperature: 1 },
      new Random(1),
    );
    expect(drawn).toEqual({ token: 3, logprob: 0, entropy: 0 });
  });

  it('refuses a row without any finite logit', () => {
    expect(() => draw(Float32Array.of(Number.NaN, Number.NaN), 0, [[0, 2]], { temperature: 1 }, new Random(1))).toThrow(
      'no finite logit',
    );
  });
});
