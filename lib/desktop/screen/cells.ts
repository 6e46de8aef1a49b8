import { GLYPHS, ICONS } from './font.ts';
import { C } from './palette.ts';

/** Pixels of a cell's side; columns and rows of the screen. */
export const CELL = 8;
export const COLUMNS = 20;
export const ROWS = 15;
export const WIDTH = COLUMNS * CELL;
export const HEIGHT = ROWS * CELL;

/** Decorations of a cell, or-ed. */
export const DECO = {
  bottom: 1,
  right: 2,
  top: 4,
  left: 8,
  /** A caret before the first or the second character. */
  caret1: 16,
  caret2: 32,
  bold: 64,
  italic: 128,
} as const;

const IMAGE = 1 << 30;

/** A picture to be shown: one palette index a pixel, sides in whole cells. */
export interface Canvas {
  columns: number;
  rows: number;
  pixels: Uint8Array;
  /** Differs whenever the pixels differ. */
  revision: number;
}

/**
 * The screen as cells, painted to pixels only where a cell changed since the last `flush`. A cell is two integers:
 * colours and decoration; characters and pictogram (or place and revision of a picture).
 */
export class Cells {
  /** Row-major palette indices, WIDTH x HEIGHT. */
  readonly pixels = new Uint8Array(WIDTH * HEIGHT);
  /** Grows whenever a pixel may have changed. */
  version = 0;
  private looks = new Int32Array(COLUMNS * ROWS);
  private glyphs = new Int32Array(COLUMNS * ROWS);
  private shownLooks = new Int32Array(COLUMNS * ROWS).fill(-1);
  private shownGlyphs = new Int32Array(COLUMNS * ROWS).fill(-1);
  private canvas: Canvas | null = null;

  /** Fills cells; what lies outside the screen is dropped. */
  fill(x: number, y: number, w: number, h: number, bg: number, deco = 0): void {
    const look = bg | (C.black << 6) | (deco << 12);
    for (let row = Math.max(0, y); row < Math.min(ROWS, y + h); row++) {
      const from = row * COLUMNS + Math.max(0, x);
      const to = row * COLUMNS + Math.min(COLUMNS, x + w);
      this.looks.fill(look, from, to);
      this.glyphs.fill(0, from, to);
    }
  }

  /** Writes text over one row of cells, 2 characters a cell, clipped to `w` cells. Keeps the background. */
  text(x: number, y: number, w: number, text: string, fg: number, deco = 0): void {
    if (y < 0 || y >= ROWS) return;
    const cells = Math.min(w, Math.ceil(text.length / 2), COLUMNS - x);
    for (let i = 0; i < cells; i++) {
      const at = y * COLUMNS + x + i;
      this.looks[at] = (this.looks[at]! & ~(63 << 6)) | (fg << 6) | (deco << 12);
      this.glyphs[at] = code(text, i * 2) | (code(text, i * 2 + 1) << 8);
    }
  }

  icon(x: number, y: number, icon: number, fg: number): void {
    if (x < 0 || x >= COLUMNS || y < 0 || y >= ROWS) return;
    const at = y * COLUMNS + x;
    this.looks[at] = (this.looks[at]! & ~(63 << 6)) | (fg << 6);
    this.glyphs[at] = icon << 16;
  }

  /** Adds decoration to one cell. */
  decorate(x: number, y: number, deco: number): void {
    if (x < 0 || x >= COLUMNS || y < 0 || y >= ROWS) return;
    const at = y * COLUMNS + x;
    this.looks[at] = this.looks[at]! | (deco << 12);
  }

  image(x: number, y: number, canvas: Canvas): void {
    this.canvas = canvas;
    for (let row = 0; row < canvas.rows && y + row < ROWS; row++) {
      for (let column = 0; column < canvas.columns && x + column < COLUMNS; column++) {
        const at = (y + row) * COLUMNS + x + column;
        this.looks[at] = IMAGE | (row * canvas.columns + column);
        this.glyphs[at] = canvas.revision;
      }
    }
  }

  /** Paints the cells that changed; `full` paints all. Returns how many were painted. */
  flush(full = false): number {
    let painted = 0;
    for (let at = 0; at < COLUMNS * ROWS; at++) {
      const look = this.looks[at]!;
      const glyph = this.glyphs[at]!;
      if (!full && look === this.shownLooks[at] && glyph === this.shownGlyphs[at]) continue;
      this.paint(at, look, glyph);
      this.shownLooks[at] = look;
      this.shownGlyphs[at] = glyph;
      painted++;
    }
    if (painted > 0) this.version++;
    return painted;
  }

  private paint(at: number, look: number, glyph: number): void {
    const column = at % COLUMNS;
    const origin = ((at - column) / COLUMNS) * CELL * WIDTH + column * CELL;
    if (look & IMAGE) {
      this.paintImage(origin, look & 0xffff);
      return;
    }
    const bg = look & 63;
    const fg = (look >> 6) & 63;
    const deco = (look >> 12) & 255;
    const icon = (glyph >> 16) & 255;
    const first = glyph & 255;
    const second = (glyph >> 8) & 255;
    for (let row = 0; row < CELL; row++) {
      const bits = icon > 0 ? ICONS[icon * 8 + row]! : textBits(first, second, row, deco);
      const start = origin + row * WIDTH;
      for (let x = 0; x < CELL; x++) this.pixels[start + x] = bits & (128 >> x) ? fg : bg;
    }
    if (deco !== 0) this.paintDecoration(origin, deco);
  }

  private paintDecoration(origin: number, deco: number): void {
    const { pixels } = this;
    for (let i = 0; i < CELL; i++) {
      if (deco & DECO.bottom) pixels[origin + 7 * WIDTH + i] = C.line;
      if (deco & DECO.bold) pixels[origin + 6 * WIDTH + i] = C.link;
      if (deco & DECO.top) pixels[origin + i] = C.line;
      if (deco & DECO.right) pixels[origin + i * WIDTH + 7] = C.line;
      if (deco & DECO.left) pixels[origin + i * WIDTH] = C.line;
      if (deco & DECO.caret1 && i < 7) pixels[origin + i * WIDTH] = C.close;
      if (deco & DECO.caret2 && i < 7) pixels[origin + i * WIDTH + 4] = C.close;
    }
  }

  private paintImage(origin: number, index: number): void {
    const { canvas } = this;
    if (!canvas) return;
    const stride = canvas.columns * CELL;
    const column = index % canvas.columns;
    const from = ((index - column) / canvas.columns) * CELL * stride + column * CELL;
    for (let row = 0; row < CELL; row++) {
      for (let x = 0; x < CELL; x++) {
        this.pixels[origin + row * WIDTH + x] = canvas.pixels[from + row * stride + x] ?? C.black;
      }
    }
  }
}

/** Character code that the font has; others become code 127 (a hollow box). */
function code(text: string, index: number): number {
  if (index >= text.length) return 0;
  const value = text.charCodeAt(index);
  return value < 128 ? value : 127;
}

/** The 8 pixels of one row of two characters. */
function textBits(first: number, second: number, row: number, deco: number): number {
  let left = GLYPHS[first * 8 + row]! << 1;
  let right = GLYPHS[second * 8 + row]! << 1;
  if (deco & DECO.italic && row < 4) {
    left >>= 1;
    right >>= 1;
  }
  return (left << 4) | right;
}
