import { describe, expect, it } from 'vitest';
import { hash32, Random } from './random.ts';

const draw = (random: Random, n: number) => Array.from({ length: n }, () => random.next());

describe('Random', () => {
  it('gives the same numbers for the same seed, for ever', () => {
    const random = new Random(1);
    expect([random.uint32(), random.uint32(), random.uint32()]).toMatchInlineSnapshot(`
      [
        2335719877,
        3777884756,
        1069924447,
      ]
    `);
    expect(draw(new Random(7), 5)).toEqual(draw(new Random(7), 5));
    expect(draw(new Random(7), 5)).not.toEqual(draw(new Random(8), 5));
  });

  it('is even: 10 buckets of 20,000 draws, chi-square under 27.9 (p = 0.001)', () => {
    const random = new Random('even');
    const buckets = new Array<number>(10).fill(0);
    for (let i = 0; i < 20_000; i++) buckets[random.int(10)]! += 1;
    const chi = buckets.reduce((sum, n) => sum + (n - 2000) ** 2 / 2000, 0);
    expect(chi).toBeLessThan(27.9);
  });

  it('first draws of neighbouring seeds are even too', () => {
    let sum = 0;
    for (let seed = 0; seed < 4000; seed++) sum += new Random(seed).next();
    expect(sum / 4000).toBeCloseTo(0.5, 1);
  });

  it('draws normal numbers: mean 0, variance 1', () => {
    const random = new Random(3);
    const all = Array.from({ length: 20_000 }, () => random.gaussian());
    const mean = all.reduce((a, b) => a + b) / all.length;
    const variance = all.reduce((a, b) => a + (b - mean) ** 2, 0) / all.length;
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(Math.abs(variance - 1)).toBeLessThan(0.05);
  });

  it('shuffles in place, keeping every member', () => {
    const list = [1, 2, 3, 4, 5, 6, 7, 8];
    expect(new Random(2).shuffle(list)).toBe(list);
    expect(list).not.toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect([...list].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('forks by label, whatever was drawn before', () => {
    const fresh = new Random(5);
    const used = new Random(5);
    draw(used, 10);
    expect(draw(used.fork('a'), 3)).toEqual(draw(fresh.fork('a'), 3));
    expect(draw(fresh.fork('a'), 3)).not.toEqual(draw(fresh.fork('b'), 3));
  });

  it('refuses to draw from nothing', () => {
    expect(() => new Random(1).int(0)).toThrow('int(0)');
  });
});

describe('hash32', () => {
  it('is spread over 32 bits and never changes', () => {
    expect([hash32(''), hash32('a'), hash32('dart')]).toMatchInlineSnapshot(`
      [
        2872998923,
        444641715,
        2685908571,
      ]
    `);
  });
});
