import { describe, expect, it } from 'vitest';
import { Random } from '../../stream/random.ts';
import { DEFAULT_CONFIG } from './config.ts';
import { learnToRead } from './learn_to_read.ts';
import type { Font } from './pages.ts';
import { drawPage } from './pages.ts';
import { initialWeights } from './weights.ts';

/** A font of random shapes: nothing but the alphabet that is given is learned. */
function randomFont(): Font {
  const random = new Random('font');
  return Uint8Array.from({ length: 128 * 8 }, (_, i) => (i % 8 === 0 || i % 8 > 5 ? 0 : random.int(8)));
}

describe('pages', () => {
  it('say where their words are', () => {
    const font = randomFont();
    const page = drawPage(DEFAULT_CONFIG, font, new Random(3));
    expect(page.words.length).toBeGreaterThan(8);
    expect(page.places.some((place) => place === 600)).toBe(true);
    const there = page.words.findIndex((_, i) => page.places[i]! < 600);
    const place = page.places[there]!;
    const [cell, half] = [place % 300, Math.floor(place / 300)];
    const [x, y] = [(cell % 20) * 8 + half * 4, Math.floor(cell / 20) * 8];
    // The first letter's shape: ink where the font has it, paper where not, in capitals or not.
    const pixel = (column: number, row: number) =>
      page.rgb.subarray(((y + row) * 160 + x + column) * 3, ((y + row) * 160 + x + column) * 3 + 3).join();
    const shape = (letter: string) =>
      Array.from(
        { length: 15 },
        (_, i) => (font[letter.charCodeAt(0) * 8 + 1 + Math.floor(i / 3)]! >> (2 - (i % 3))) & 1,
      );
    const inks = (letter: string) =>
      new Set(
        Array.from({ length: 15 }, (_, i) => (shape(letter)[i] ? pixel(i % 3, 1 + Math.floor(i / 3)) : '')).filter(
          Boolean,
        ),
      );
    const letter = page.words[there]![0]!;
    expect(Math.min(inks(letter).size, inks(letter.toUpperCase()).size)).toBe(1);
  });

  it('are the same for the same seed', () => {
    expect(drawPage(DEFAULT_CONFIG, randomFont(), new Random(4))).toEqual(
      drawPage(DEFAULT_CONFIG, randomFont(), new Random(4)),
    );
  });
});

describe('learnToRead', () => {
  it('finds words far more often than chance after a second, in the frozen weights only', async () => {
    const weights = initialWeights(DEFAULT_CONFIG, 1);
    const accuracies: number[] = [];
    await learnToRead(DEFAULT_CONFIG, weights, randomFont(), {
      steps: 120,
      onStep: (_, accuracy) => accuracies.push(accuracy),
    });
    // A third of the words is nowhere, which is what a fresh network says of all.
    expect(accuracies[0]).toBeLessThan(0.4);
    expect(accuracies.at(-1)).toBeGreaterThan(0.6);
    const fresh = initialWeights(DEFAULT_CONFIG, 1);
    const changed = [...weights].filter(([name, { data }]) =>
      fresh.get(name)!.data.some((value, i) => value !== data[i]),
    );
    expect(changed.map(([name]) => name.split('.')[0])).toEqual(changed.map(() => 'reading'));
    expect(changed.length).toBeGreaterThan(5);
  });
});
