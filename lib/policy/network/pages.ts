import type { Random } from '../../stream/random.ts';
import type { NetworkConfig } from './config.ts';
import { CELL } from './config.ts';
import { CHARACTERS } from './tokens.ts';

/** 8 rows of 3 pixels (bit 2 is the left one) for character codes 0..127, at `code * 8 + row`. */
export type Font = Uint8Array;

/** A page of random words, and where they are. */
export interface Page {
  rgb: Uint8Array;
  words: string[];
  /** For each word: 0..cells-1 begins in the left half of that cell, cells..2·cells-1 in the right half, or 2·cells: nowhere. */
  places: number[];
}

const HALF = CELL / 2;
const LETTERS = 26;
const SHOWN = CHARACTERS.replace(/[ \n]/g, '');

type Colour = [number, number, number];

class Canvas {
  readonly rgb: Uint8Array;
  readonly #width: number;
  constructor(width: number, height: number) {
    this.#width = width;
    this.rgb = new Uint8Array(width * height * 3);
  }

  fill(x: number, y: number, width: number, height: number, [r, g, b]: Colour): void {
    for (let row = y; row < y + height; row++) {
      let at = (row * this.#width + x) * 3;
      for (const end = at + width * 3; at < end; at += 3) {
        this.rgb[at] = r;
        this.rgb[at + 1] = g;
        this.rgb[at + 2] = b;
      }
    }
  }

  glyph(font: Font, code: number, x: number, y: number, colour: Colour): void {
    for (let row = 0; row < CELL; row++) {
      for (let column = 0; column < 3; column++) {
        if ((font[code * 8 + row]! >> (2 - column)) & 1) this.fill(x + column, y + row, 1, 1, colour);
      }
    }
  }
}

function randomColour(random: Random): Colour {
  // Greys, light and dark are what interfaces are made of.
  const base = random.pick([0, 40, 90, 160, 220, 255]);
  const spread = random.pick([0, 0, 20, 120]);
  const channel = () => Math.max(0, Math.min(255, base + random.int(2 * spread + 1) - spread));
  return [channel(), channel(), channel()];
}

const brightness = ([r, g, b]: Colour) => 0.3 * r + 0.6 * g + 0.1 * b;

function inkFor(random: Random, paper: Colour): Colour {
  for (;;) {
    const ink = randomColour(random);
    if (Math.abs(brightness(ink) - brightness(paper)) > 70) return ink;
  }
}

function randomWord(random: Random): string {
  const length = random.pick([1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8]);
  const alphabet = random.next() < 0.75 ? LETTERS : SHOWN.length;
  return Array.from({ length }, () => SHOWN[random.int(alphabet)]!).join('');
}

/** The same with one letter changed: nearly there is not there. */
function misspelt(random: Random, word: string): string {
  const at = random.int(Math.min(word.length, 6));
  return word.slice(0, at) + SHOWN[random.int(LETTERS)]! + word.slice(at + 1);
}

interface Written {
  text: string;
  place: number;
}

/**
 * Boxes of every colour with random words, some in capitals, some with lines around, as interfaces have them; and a list
 * of words of which most are there, some are not, and some nearly are.
 */
export function drawPage(config: NetworkConfig, font: Font, random: Random): Page {
  const { width, height } = config.screen;
  const canvas = new Canvas(width, height);
  const written: Written[] = [];
  for (let row = 0; row < height / CELL; row++) {
    for (let column = 0; column < width / CELL; ) {
      const span = Math.min(width / CELL - column, 1 + random.int(8));
      written.push(
        ...drawBox(canvas, font, random, {
          row,
          column,
          span,
          columns: width / CELL,
          cells: (width * height) / CELL ** 2,
        }),
      );
      column += span;
    }
  }
  return { rgb: canvas.rgb, ...listWords(config, written, random) };
}

interface Box {
  row: number;
  column: number;
  span: number;
  columns: number;
  cells: number;
}

function drawBox(canvas: Canvas, font: Font, random: Random, box: Box): Written[] {
  const { row, column, span } = box;
  const [x, y] = [column * CELL, row * CELL];
  const paper = randomColour(random);
  canvas.fill(x, y, span * CELL, CELL, paper);
  const ink = inkFor(random, paper);
  const capitals = random.next() < 0.2;
  const written: Written[] = [];
  for (let at = random.int(3); at < 2 * span && random.next() < 0.8; ) {
    const text = randomWord(random).slice(0, 2 * span - at);
    [...text].forEach((character, i) => {
      const shown = capitals ? character.toUpperCase() : character;
      canvas.glyph(font, shown.charCodeAt(0), x + (at + i) * HALF, y, ink);
    });
    const cell = row * box.columns + column + (at >> 1);
    written.push({ text, place: at % 2 === 0 ? cell : box.cells + cell });
    at += text.length + 1;
  }
  const line = randomColour(random);
  if (random.next() < 0.5) canvas.fill(x, y + CELL - 1, span * CELL, 1, line);
  if (random.next() < 0.5) canvas.fill(x + span * CELL - 1, y, 1, CELL, line);
  return written;
}

function listWords(config: NetworkConfig, written: Written[], random: Random): { words: string[]; places: number[] } {
  const start = (word: string) => word.slice(0, config.matched);
  const nowhere = 2 * (config.screen.width / CELL) * (config.screen.height / CELL);
  const taken = random.shuffle([...written]);
  const words: string[] = [];
  const places: number[] = [];
  for (const { text, place } of taken) {
    if (words.length === config.words) break;
    const word = random.next() < 0.3 ? misspelt(random, text) : text;
    // A word that stands there twice, or begins another one, has no one place.
    const hits = written.filter((other) => other.text.startsWith(start(word)));
    if (word.length < 2 || hits.length > 1) continue;
    words.push(word);
    places.push(hits.length === 1 ? (hits[0]?.place ?? place) : nowhere);
  }
  return { words, places };
}
