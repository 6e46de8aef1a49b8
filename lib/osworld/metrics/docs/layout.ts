import { BrokenDocument } from '../../formats/broken.ts';
import type { WordDocument } from '../../formats/docx/document.ts';
import { Paragraph, type TabStop } from '../../formats/docx/paragraph.ts';
import { W } from '../../formats/docx/values.ts';
import { childrenOf, descendantsOf, type Element } from '../../formats/xml.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { hasDigit, pieces, strip, words } from './python_text.ts';
import { sameTexts } from './texts.ts';
import { wordCheck, wordMetric } from './word_metric.ts';

/** The paragraph at `index`, from the end where it is negative. Throws a BrokenDocument where there is none. */
export function paragraphAt({ paragraphs }: WordDocument, index: number): Paragraph {
  const paragraph = paragraphs.at(index);
  if (paragraph === undefined) throw new BrokenDocument(`the document has only ${paragraphs.length} paragraphs`);
  return paragraph;
}

/** Equal texts, and each paragraph's own line spacing equal. */
const compareLineSpacing = wordMetric(async (result, expected, input) => {
  if ((await sameTexts(input)) === 0 || result.paragraphs.length !== expected.paragraphs.length) return 0;
  return result.paragraphs.every((paragraph, i) => paragraph.lineSpacing === expected.paragraphs[i]!.lineSpacing);
});

/** The first paragraph says itself that it is centred. */
const isFirstLineCentered = wordCheck((result) => paragraphAt(result, 0).alignment === 'center');

/** Line spacing 1, 2 and 1.5 in the first three paragraphs. */
const evaluateSpacing = wordCheck((result) => {
  const spacings = [0, 1, 2].map((index) => paragraphAt(result, index).lineSpacing);
  return spacings[0] === 1 && spacings[1] === 2 && spacings[2] === 1.5;
});

/**
 * In every sentence of three words or more, the first three and the rest stand with single blanks between them. What
 * lies between the third word and the fourth is not looked at.
 */
const evaluateAlignment = wordCheck(({ texts }) =>
  texts
    .flatMap((text) => text.split('.'))
    .every((sentence) => {
      const all = words(sentence);
      if (all.length < 3) return true;
      const [first, rest] = [all.slice(0, 3).join(' '), all.slice(3).join(' ')];
      return sentence.includes(first) && sentence.includes(rest) && sentence.indexOf(first) < sentence.indexOf(rest);
    }),
);

/** A digit in the first paragraph of every section's footer; `strict` takes the whole footer, and a PAGE field too. */
const hasPageNumbers = wordCheck(({ footers }, { fidelity }) =>
  footers.every((footer) => {
    if (footer === null) return false;
    if (fidelity === 'strict') return numbersPages(footer);
    const first = childrenOf(footer, W, 'p')[0];
    return first !== undefined && hasDigit(new Paragraph(first).text);
  }),
);

function numbersPages(footer: Element): boolean {
  const textIn = (name: string) => descendantsOf(footer, W, name).map(({ textContent }) => textContent ?? '');
  const fields = [
    ...textIn('instrText'),
    ...descendantsOf(footer, W, 'fldSimple').map((field) => field.getAttributeNS(W, 'instr') ?? ''),
  ];
  return textIn('t').some(hasDigit) || fields.some((field) => /^\s*PAGE\b/i.test(field));
}

/**
 * Tab stops of the paragraphs that have text, as in the expected document; 1 less the mean distance between the stops
 * as a part of the text's width. Option `word_number_split_by_tabstop`: words in the piece `index` (0) of every text.
 */
const checkTabstops = wordMetric((result, expected, input) => {
  const [ours, theirs] = [withText(result), withText(expected)];
  if (ours.length !== theirs.length) return 0;
  if (input.options.has('word_number_split_by_tabstop') && !ours.every((it) => hasWords(it, input))) return 0;
  if (ours.length === 0) throw new BrokenDocument('the document has no text');
  const width = expected.textWidth;
  let missed = 0;
  for (const [index, paragraph] of ours.entries()) {
    const distance = distanceOf(stopsOf(paragraph), stopsOf(theirs[index]!));
    if (distance === null) return 0;
    missed += distance / width;
  }
  // OSWorld lets the score of stops that are far away fall below 0.
  return Math.max(0, 1 - missed / ours.length);
});

function withText({ paragraphs }: WordDocument): Paragraph[] {
  return paragraphs.filter(({ text }) => strip(text) !== '');
}

function hasWords({ text }: Paragraph, { options }: MetricInput): boolean {
  const piece = text.split('\t').at(options.number('index', 0));
  if (piece === undefined) throw new BrokenDocument('a paragraph has too few tabs');
  return pieces(piece).length === options.number('word_number_split_by_tabstop');
}

/** The stops that mean something: neither one taken back nor one at the left edge. */
function stopsOf({ tabStops }: Paragraph): TabStop[] {
  return tabStops.filter(
    ({ alignment, position }) => alignment !== 'clear' && !(alignment === 'left' && position === 0),
  );
}

/** EMU between stops of the same number and kinds; null where they are others. */
function distanceOf(ours: TabStop[], theirs: TabStop[]): number | null {
  if (ours.length !== theirs.length || ours.some(({ alignment }, i) => alignment !== theirs[i]!.alignment)) return null;
  return ours.reduce((sum, { position }, i) => sum + Math.abs(position - theirs[i]!.position), 0);
}

export const layoutMetrics: Record<string, Metric> = {
  compare_line_spacing: compareLineSpacing,
  is_first_line_centered: isFirstLineCentered,
  evaluate_spacing: evaluateSpacing,
  evaluate_alignment: evaluateAlignment,
  has_page_numbers_in_footers: hasPageNumbers,
  check_tabstops: checkTabstops,
};
