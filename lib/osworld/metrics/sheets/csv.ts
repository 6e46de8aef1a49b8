import type { Metric } from '../../kinds.ts';
import { equal } from '../../rules.ts';
import { expectedFiles, resultFile } from '../input.ts';
import { splitLines, strip } from './python.ts';

/** 1 when the lines equal those of any expected file; `strict: false` ignores blanks around, `ignore_case` the case. */
export const compareCsv: Metric = (input) => {
  const file = resultFile(input);
  if (file === null) return 0;
  const { strict, ignore_case } = input.options.values;
  const fold = (bytes: Uint8Array) =>
    textLines(bytes)
      .map((line) => (strict === undefined || strict ? line : strip(line)))
      .map((line) => (ignore_case ? line.toLowerCase() : line));
  const lines = fold(file.bytes);
  return Number(expectedFiles(input).some(({ bytes }) => equal(lines, fold(bytes))));
};

/** The lines of a printed sheet, last first: blanks around each taken off, and empty lines at the end of the file. */
export function printedLines(bytes: Uint8Array): string[] {
  const lines = textLines(bytes).map(strip).reverse();
  const first = lines.findIndex((line) => line !== '');
  return first < 0 ? [] : lines.slice(first);
}

/** Lines of UTF-8 text, or Latin-1 where it is not UTF-8. */
function textLines(bytes: Uint8Array): string[] {
  try {
    return splitLines(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return splitLines(Buffer.from(bytes).toString('latin1'));
  }
}
