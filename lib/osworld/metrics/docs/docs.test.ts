import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { DartError } from '../../../errors.ts';
import type { FetchedFile, Fidelity } from '../../context.ts';
import { Fields } from '../../fields.ts';
import { paragraph, wordFile } from '../../formats/docx/docx.testing.ts';
import { colorDistance } from './color_distance.ts';
import { documentMetrics } from './index.ts';
import { samePixels } from './pixels.ts';
import { collapse, hasDigit, isUpper, sorted, strip, words } from './python_text.ts';

const word = (body: string, footers?: Record<string, string>): FetchedFile => ({
  name: 'a.docx',
  bytes: wordFile({ body, footers }),
});
const texts = (...all: string[]) => word(all.map((text) => paragraph(text)).join(''));
const text = (name: string): FetchedFile => ({ name, bytes: Buffer.from('no document') });

async function score(name: string, result: unknown, expected?: unknown, options = {}, fidelity?: Fidelity) {
  const fields = new Fields(`options of ${name}`, 't1', options);
  return documentMetrics[name]!({ result, expected, options: fields, name, where: 't1', fidelity });
}

describe('metrics of text documents', () => {
  it.each([
    // LCS of "abcd" and "abxd" is 3: 2 * 3 / 8.
    ['compare_docx_files', texts('abcd'), texts('abxd'), { content_only: true }, 0.75],
    ['compare_docx_files', texts('abcd', 'x'), texts('abxd', 'x'), { fuzzy_match: true, ignore_blanks: false }, 0.875],
    ['compare_docx_files', texts('B', 'a'), texts('a', 'b'), { ignore_order: true, ignore_case: true }, 0],
    ['compare_docx_files', texts('b', '', 'a'), texts('a', 'b'), { ignore_order: true, ignore_blanks: false }, 0],
    [
      'compare_docx_files',
      texts('b', '', 'a'),
      texts('a', 'b'),
      { ignore_order: true, ignore_blanks: false, delete_empty_lines: true },
      1,
    ],
    // Of 0.75 the part above 0.5, as a part of what is above it.
    ['compare_references', texts('References', 'abcd'), texts('References', 'abxd'), {}, 0.5],
    ['compare_references', texts('Sources', 'abcd'), texts('Sources', 'x'), { reference_indicator: 'Sources' }, 0],
  ] as const)('%s #%#', async (name, result, expected, options, wanted) => {
    expect(await score(name, result, expected, options)).toBeCloseTo(wanted, 12);
  });

  it('check_file_exists looks into the folder that a getter listed', async () => {
    const folder = {
      type: 'directory',
      name: 'd',
      children: [
        { type: 'file', name: 'a.txt' },
        { type: 'directory', name: 'b' },
      ],
    };
    expect(await score('check_file_exists', folder, 'a.txt')).toBe(1);
    expect(await score('check_file_exists', folder, { filename: 'b' })).toBe(0);
    expect(await score('check_file_exists', null, 'a.txt')).toBe(0);
  });

  it.each(Object.keys(documentMetrics))('%s gives 0 for a file that is not there', async (name) => {
    const isRule = /font_names|default_font|page_break|file_exists/.test(name);
    const expected = isRule ? { font_name: 'A', filename: 'a' } : texts('a');
    expect(await score(name, null, name.includes('train') ? [expected, expected] : expected)).toBe(0);
  });

  it('blames the task for an expected file that is broken, missing or of another kind', async () => {
    const rejected = async (name: string, result: unknown, expected: unknown, options = {}) => {
      const error: DartError = await score(name, result, expected, options).then(
        () => expect.unreachable(),
        (reason) => reason,
      );
      expect(error.where).toBe('t1');
      return error.message;
    };
    const result = texts('a');
    expect(await rejected('compare_docx_files', result, text('gold.docx'))).toContain(
      'gold.docx cannot be compared: no zip',
    );
    expect(await rejected('compare_docx_files', result, text('gold.pdf'))).toContain('gold.pdf is no .docx or .odt');
    expect(await rejected('compare_references', result, text('gold.odt'))).toContain('gold.odt is no .docx');
    expect(await rejected('compare_docx_tables', result, null)).toContain('needs an expected file');
    expect(await rejected('compare_unique_train_records', result, [result])).toContain('needs two expected documents');
    expect(await rejected('compare_font_names', result, {})).toContain('font_name should be a string');
    // The result is sound; what the page of the expected document does not say breaks the comparison.
    expect(await rejected('check_tabstops', result, texts('a'))).toContain('does not say its page');
    expect(await rejected('compare_references', texts('References'), texts('References'))).toContain(
      'nothing comes after',
    );
  });

  it('blames the agent for a result that cannot be compared with a sound document', async () => {
    const spaced = word(paragraph('a', '<w:spacing w:line="240"/>'));
    expect(await score('compare_line_spacing', spaced, spaced)).toBe(1);
    expect(await score('compare_line_spacing', word(paragraph('a', '<w:spacing w:line="x"/>')), spaced)).toBe(0);
    expect(await score('is_first_line_centered', word(paragraph('a', '<w:jc w:val="start"/>')))).toBe(0);
  });
});

describe('strict repairs what OSWorld gets wrong', () => {
  const both = async (name: string, result: FetchedFile, expected?: FetchedFile) => [
    await score(name, result, expected),
    await score(name, result, expected, {}, 'strict'),
  ];
  const look = (properties: string) => word(paragraph('a', '', properties));

  it('has_page_numbers_in_footers: fields count, and so do numbers after the first paragraph', async () => {
    const section = '<w:sectPr><w:footerReference r:id="one" w:type="default"/></w:sectPr>';
    const numbered = (footer: string) => both('has_page_numbers_in_footers', word(section, { one: footer }));
    expect(await numbered(paragraph('Page 1'))).toEqual([1, 1]);
    expect(await numbered(`${paragraph('Page')}${paragraph('1')}`)).toEqual([0, 1]);
    expect(await numbered('<w:p><w:fldSimple w:instr=" PAGE "/></w:p>')).toEqual([0, 1]);
    expect(await numbered(paragraph('Page'))).toEqual([0, 0]);
  });

  it('evaluate_strike_through_last_paragraph: an empty last paragraph is no struck one', async () => {
    const struck = paragraph('a', '', '<w:strike/>');
    const name = 'evaluate_strike_through_last_paragraph';
    expect(await both(name, word(`${struck}<w:p/>`), word(struck))).toEqual([1, 1]);
    expect(await both(name, word(`${paragraph('a')}<w:p/>`), word(struck))).toEqual([1, 0]);
  });

  it('check_italic_font_size_14: taking the italics away is no answer', async () => {
    const [large, upright] = [look('<w:i/><w:sz w:val="28"/>'), look('')];
    expect(await both('check_italic_font_size_14', large, large)).toEqual([1, 1]);
    expect(await both('check_italic_font_size_14', upright, large)).toEqual([1, 0]);
    expect(await both('check_italic_font_size_14', upright, upright)).toEqual([1, 1]);
  });

  it('compare_docx_images: size and colours of palettes count', async () => {
    const picture = (width: number, height: number, data: number[]) =>
      encode({ width, height, data: Uint8Array.from(data), channels: 1, depth: 8 });
    const [flat, tall] = [picture(3, 2, [1, 2, 3, 4, 5, 6]), picture(2, 3, [1, 2, 3, 4, 5, 6])];
    expect([await samePixels(flat, tall, false), await samePixels(flat, tall, true)]).toEqual([true, false]);
    expect(await samePixels(flat, picture(3, 2, [1, 2, 3, 4, 5, 7]), false)).toBe(false);
    const [wmf, other] = [Uint8Array.of(0xd7, 0xcd, 1), Uint8Array.of(0xd7, 0xcd, 2)];
    expect([await samePixels(wmf, wmf.slice(), false), await samePixels(wmf, other, false)]).toEqual([true, false]);
  });
});

describe('colorDistance', () => {
  // What scikit-image 0.26 gives.
  it.each([
    ['ff0000', '0000ff', 52.881399704556856],
    ['ff0000', 'e04010', 5.682372824281149],
    ['0000ff', '0a14fa', 1.0577849882452215],
    ['ff0000', 'ff0080', 26.1843587905369],
    ['0ac81e', 'c80afa', 104.37095482826456],
    ['000000', 'ffffff', 100.00000017602524],
    ['000000', '0000ff', 39.68096003469924],
    ['808080', '808080', 0],
  ])('%s and %s', (first, second, distance) => {
    const rgb = (hex: string) => [...Buffer.from(hex, 'hex')] as [number, number, number];
    expect(colorDistance(rgb(first), rgb(second))).toBeCloseTo(distance, 5);
    expect(colorDistance(rgb(second), rgb(first))).toBeCloseTo(distance, 5);
  });
});

it('text is treated as Python treats it', () => {
  expect(strip('\u00a0\u3000a b\u2028')).toBe('a b');
  expect(strip('\ufeffa')).toBe('\ufeffa');
  expect(collapse(' a\u00a0\n b\t')).toBe('a b');
  expect(words(' a\u2003b  c ')).toEqual(['a', 'b', 'c']);
  // Code points, not the halves of surrogate pairs: U+FF5E comes before U+1F600.
  expect(sorted(['\u{1f600}', '\uff5e', 'b', 'B'])).toEqual(['B', 'b', '\uff5e', '\u{1f600}']);
  expect(['A1', 'Ab', '1', 'É!', 'ǅ', ''].map(isUpper)).toEqual([true, false, false, true, false, false]);
  expect(['a²', '٣', '①', '½', 'x'].map(hasDigit)).toEqual([true, true, true, false, false]);
});
