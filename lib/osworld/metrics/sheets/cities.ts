import { Workbook } from '../../formats/xlsx/workbook.ts';
import type { Metric } from '../../kinds.ts';
import { resultFile, rulesOf } from '../input.ts';

const ROWS = Array.from({ length: 21 }, (_, index) => index + 2);

/** 1 when each of the cells C2 to C22 of the sheet in front holds the city of `expected` (or one of its names). */
export const compareCities: Metric = (input) => {
  const file = resultFile(input);
  const expected = rulesOf(input).list('expected');
  const found = file === null ? null : citiesIn(file.bytes);
  if (found === null) return 0;
  if (expected.length < ROWS.length) throw rulesOf(input).wrong('expected', `${ROWS.length} cities`);
  return Number(
    found.every((city, index) => namesOf(expected[index]).some((name) => name !== '' && city.includes(name))),
  );
};

function citiesIn(bytes: Uint8Array): string[] | null {
  try {
    const sheet = new Workbook(bytes).active;
    if (sheet === undefined) return null;
    return ROWS.map((row) => {
      const cell = sheet.cell(`C${row}`);
      return plain(cell?.formula ?? String(cell?.value ?? ''));
    });
  } catch {
    return null;
  }
}

function namesOf(expected: unknown): string[] {
  return [expected].flat().map((name) => plain(String(name ?? '')));
}

/** Lower case without accents, everything but letters and digits one blank. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}
