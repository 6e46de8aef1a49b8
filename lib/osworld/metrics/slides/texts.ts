import type { Shape, Table } from '../../formats/pptx/shape.ts';
import { joinParagraphs, type Paragraph, type Run } from '../../formats/pptx/text.ts';
import { isSameRgb } from '../../formats/pptx/values.ts';
import { strip } from '../sheets/python.ts';
import type { Examine } from './examine.ts';

/** Whether the texts of two shapes agree. `meet` is called once for each pair of runs that are compared. */
export function haveSameText(result: Shape, expected: Shape, examine: Examine, meet: () => boolean): boolean {
  if (strip(result.text) !== strip(expected.text) && examine.text) return false;
  const pairs = pairsOf(result.paragraphs, expected.paragraphs);
  return pairs?.every(([a, b]) => isSameParagraph(a, b, examine, meet)) ?? false;
}

/** Texts and alignments alone, of every shape with text, those inside groups too. */
export function haveSameAlignment(result: Shape, expected: Shape, examine: Examine): boolean {
  if (strip(result.text) !== strip(expected.text) && examine.text) return false;
  return pairsOf(result.paragraphs, expected.paragraphs)?.every(([a, b]) => isAligned(a, b)) ?? false;
}

/**
 * Whether two tables look alike. OSWorld compares no text here, and does not ask whether bold, italic and underline are
 * to be examined: the strict protocol does both.
 */
export function haveSameCells(result: Table, expected: Table, examine: Examine): boolean {
  if (result.rowCount !== expected.rowCount || result.columnCount !== expected.columnCount) return false;
  for (let row = 0; row < result.rowCount; row++) {
    for (let column = 0; column < result.columnCount; column++) {
      if (!isSameCell(result.cell(row, column), expected.cell(row, column), examine)) return false;
    }
  }
  return true;
}

function isSameCell(result: Paragraph[], expected: Paragraph[], examine: Examine): boolean {
  if (examine.isStrict && examine.text && joinParagraphs(result) !== joinParagraphs(expected)) return false;
  return (
    pairsOf(result, expected)?.every(([a, b]) => {
      const runs = runPairs(a, b, examine);
      return runs?.every(([x, y]) => isSameColour(x, y, examine) && isSameStyle(x, y, examine, !examine.isStrict));
    }) ?? false
  );
}

function isSameParagraph(a: Paragraph, b: Paragraph, examine: Examine, meet: () => boolean): boolean {
  if (examine.alignment && !isAligned(a, b)) return false;
  if (a.text !== b.text && examine.text) return false;
  // A paragraph on level 0 and one on level 1 may look the same, continued.
  if (a.level !== b.level && examine.indent && !(a.level <= 1 && b.level <= 1)) return false;
  const runs = runPairs(a, b, examine);
  return runs?.every(([x, y]) => isSameRun(x, y, examine) && meet()) ?? false;
}

function isSameRun(a: Run, b: Run, examine: Examine): boolean {
  if (a.fontName !== b.fontName && examine.font_name) return false;
  if (a.size !== b.size && examine.font_size) return false;
  if (!isSameStyle(a, b, examine, false) || !isSameColour(a, b, examine)) return false;
  return (a.strike ?? 'noStrike') === (b.strike ?? 'noStrike') || !examine.strike_through;
}

/** Bold, italic and underline; `isForced`: whatever the options say. */
function isSameStyle(a: Run, b: Run, examine: Examine, isForced: boolean): boolean {
  if ((a.bold ?? false) !== (b.bold ?? false) && (isForced || examine.font_bold)) return false;
  if ((a.italic ?? false) !== (b.italic ?? false) && (isForced || examine.font_italic)) return false;
  return isSameUnderline(a.underline, b.underline, examine) || !(isForced || examine.font_underline);
}

/** No word on underline is as good as `none`, and for OSWorld as good as everything but a single line. */
function isSameUnderline(a: string | null, b: string | null, { isStrict }: Examine): boolean {
  if (isStrict) return (a ?? 'none') === (b ?? 'none');
  // Python takes "words" (1) for True, which is what python-pptx calls a single line.
  const plain = (value: string) => (value === 'words' ? 'sng' : value);
  if (a !== null && b !== null) return plain(a) === plain(b);
  return a === b || (a !== 'sng' && b !== 'sng');
}

/** Colours differ only where both runs give red, green and blue. */
function isSameColour(a: Run, b: Run, examine: Examine): boolean {
  const [left, right] = [a.colour, b.colour];
  return left === null || right === null || isSameRgb(left, right) || !examine.color_rgb;
}

function isAligned(a: Paragraph, b: Paragraph): boolean {
  return (a.alignment ?? 'l') === (b.alignment ?? 'l');
}

/** Runs that are compared with each other; null where their numbers differ and count. */
function runPairs(a: Paragraph, b: Paragraph, examine: Examine): [Run, Run][] | null {
  const isBlank = strip(a.text) === '' && strip(b.text) === '';
  const runs = (paragraph: Paragraph) => paragraph.runs.filter((run) => !isBlank || strip(run.text) !== '');
  const [left, right] = [runs(a), runs(b)];
  if (left.length !== right.length && examine.run_count) return null;
  return left.slice(0, right.length).map((run, index) => [run, right[index]!]);
}

/** Members by their place; null where the lists are not of one length. */
function pairsOf<T>(a: T[], b: T[]): [T, T][] | null {
  return a.length === b.length ? a.map((item, index) => [item, b[index]!]) : null;
}
