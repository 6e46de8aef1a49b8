import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Presentation } from './presentation.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/documents/slides');
const open = (name: string) => new Presentation(readFileSync(join(FOLDER, name)));
/** EMU in a centimetre. */
const CM = 360_000;

describe('Presentation', () => {
  const { slides, slideWidth, slideHeight } = open('library.pptx');

  it('gives slides in order, with shapes, texts and notes', () => {
    expect([slideWidth, slideHeight]).toEqual([9_144_000, 6_858_000]);
    expect(slides.map(({ shapes }) => shapes.map(({ kind }) => kind))).toEqual([
      ['placeholder', 'placeholder', 'text-box', 'picture'],
      ['placeholder', 'placeholder', 'picture', 'auto-shape'],
      ['placeholder', 'table'],
      ['group', 'line', 'freeform', 'text-box'],
    ]);
    expect(slides[1]!.shapes[1]!.text).toBe('First\nSecond\nThird');
    expect(slides[3]!.textShapes.map(({ text }) => text)).toEqual(['Inside', 'Twice', '', 'Struck\nright\vbelow']);
    expect(slides.map(({ notes }) => notes)).toEqual(['', '', '', 'Say hello.\nThen stop.']);
  });

  it('gives the places of shapes, those of placeholders by layout and master', () => {
    const placeOf = (slide: number, shape: number) => {
      const { left, top, width, height } = slides[slide]!.shapes[shape]!;
      return [left, top, width, height];
    };
    expect(placeOf(0, 2)).toEqual([2 * CM, 12 * CM, 10 * CM, 2 * CM]);
    expect(placeOf(2, 1)).toEqual([2 * CM, 4 * CM, 16 * CM, 4 * CM]);
    // From the layout of title slides, and from the master.
    expect(placeOf(0, 0)).toEqual([685_800, 2_130_425, 7_772_400, 1_470_025]);
    expect(placeOf(1, 0)).toEqual([457_200, 274_638, 8_229_600, 1_143_000]);
  });

  it('gives what runs say of their look, null for what they do not say', () => {
    const runs = slides[0]!.shapes[2]!.paragraphs[0]!.runs.map((run) => {
      const { text, fontName, size, bold, italic, underline, colour, strike } = run;
      return { text, fontName, size, bold, italic, underline, colour, strike };
    });
    const bare = { fontName: null, size: null, bold: null, italic: null, underline: null, colour: null, strike: null };
    expect(runs).toEqual([
      { ...bare, text: 'Boats ', fontName: 'Liberation Sans', size: 2000, bold: true, colour: [192, 0, 0] },
      // A colour of the theme is none.
      { ...bare, text: 'and ', italic: true },
      { ...bare, text: 'nets', underline: 'sng' },
    ]);
    const [struck, right] = slides[3]!.shapes[3]!.paragraphs;
    expect([struck!.runs[0]!.strike, right!.alignment, slides[1]!.shapes[1]!.paragraphs[1]!.level]).toEqual([
      'sngStrike',
      'r',
      1,
    ]);
  });

  it('gives tables, pictures and backgrounds', () => {
    const { table } = slides[2]!.shapes[1]!;
    expect([table.rowCount, table.columnCount]).toEqual([3, 2]);
    expect(table.cell(1, 1).map(({ text }) => text)).toEqual(['12']);
    expect(() => table.cell(3, 0)).toThrow('no cell 3, 0');
    expect(Buffer.from(slides[0]!.shapes[3]!.image).subarray(1, 4).toString()).toBe('PNG');
    expect(slides.map(({ backgroundFill }) => backgroundFill !== null)).toEqual([false, false, false, true]);
  });

  it('reads what LibreOffice writes', () => {
    const [first, second] = open('style.pptx').slides;
    const title = first!.shapes[0]!.paragraphs[0]!.runs[0]!;
    expect([title.text, title.bold, title.underline, title.size, title.colour]).toEqual([
      'Harbour report',
      true,
      'sng',
      4400,
      [255, 0, 0],
    ]);
    expect(second!.shapes[1]!.paragraphs.map(({ alignment }) => alignment)).toEqual([null, null, 'r']);
  });

  it('refuses what is no presentation', () => {
    expect(() => new Presentation(new TextEncoder().encode('no archive'))).toThrow();
    const docx = readFileSync(join(FOLDER, '../docs/blank.docx'));
    expect(() => new Presentation(docx)).toThrow('the package is not a presentation');
  });
});
