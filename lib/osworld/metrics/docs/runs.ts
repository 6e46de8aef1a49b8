import type { WordDocument } from '../../formats/docx/document.ts';
import type { Paragraph, Run } from '../../formats/docx/paragraph.ts';
import { W } from '../../formats/docx/values.ts';
import { attributeOf, descendantsOf } from '../../formats/xml.ts';
import type { Metric } from '../../kinds.ts';
import { rulesOf } from '../input.ts';
import { colorDistance } from './color_distance.ts';
import { paragraphAt } from './layout.ts';
import { isUpper, strip } from './python_text.ts';
import { sameTexts } from './texts.ts';
import { wordCheck, wordMetric } from './word_metric.ts';

const RED: [number, number, number] = [255, 0, 0];
const BLUE: [number, number, number] = [0, 0, 255];

const runsOf = (paragraphs: Paragraph[]) => paragraphs.flatMap(({ runs }) => runs);

/** Runs at the same place of the same paragraph, as far as both documents go. */
function* pairs(result: WordDocument, expected: WordDocument): Generator<[Run, Run]> {
  const theirs = expected.paragraphs;
  for (const [index, { runs }] of result.paragraphs.slice(0, theirs.length).entries()) {
    const others = theirs[index]!.runs;
    for (const [at, run] of runs.slice(0, others.length).entries()) yield [run, others[at]!];
  }
}

/** `{font_name}`: every run names that font itself. */
const compareFontNames: Metric = (input) => {
  const font = rulesOf(input).text('font_name');
  return wordCheck(({ paragraphs }) => runsOf(paragraphs).every(({ fontName }) => fontName === font))(input);
};

/** One run at least is subscript in both documents. */
const compareSubscripts = wordMetric((result, expected) => {
  for (const [ours, theirs] of pairs(result, expected)) if (ours.isSubscript && theirs.isSubscript) return 1;
  return 0;
});

/** Equal texts, and one run at least with an embedded object (`w:object`) in both. */
const compareEquations = wordMetric(async (result, expected, input) => {
  if ((await sameTexts(input)) === 0) return 0;
  const hasObject = ({ element }: Run) => descendantsOf(element, W, 'object').length > 0;
  for (const [ours, theirs] of pairs(result, expected)) if (hasObject(ours) && hasObject(theirs)) return 1;
  return 0;
});

/** Runs hold a picture where the expected ones do. */
const compareContainsImage = wordMetric((result, expected) => {
  const hasPicture = ({ element }: Run) => element.toString().includes('graphicData');
  for (const [ours, theirs] of pairs(result, expected)) if (hasPicture(ours) !== hasPicture(theirs)) return 0;
  return 1;
});

/** `{page_break_count?}`: that many page breaks, or one at least. */
const containsPageBreak: Metric = (input) => {
  const rules = typeof input.expected === 'object' && input.expected !== null ? rulesOf(input) : undefined;
  const wanted = rules?.has('page_break_count') ? rules.number('page_break_count') : null;
  return wordCheck(({ paragraphs }) => {
    const breaks = runsOf(paragraphs).flatMap(({ element }) => descendantsOf(element, W, 'br'));
    const count = breaks.filter((element) => attributeOf(element, 'type', W) === 'page').length;
    return count > 0 && (wanted === null || count === wanted);
  })(input);
};

/** Equal texts, and every run of the last paragraph struck through; `strict` takes the last one that has text. */
const lastParagraphStruck = wordMetric(async (result, expected, input) => {
  if ((await sameTexts(input)) === 0) return 0;
  const written = result.paragraphs.filter(({ text }) => strip(text) !== '').at(-1);
  const last = (input.fidelity === 'strict' ? written : undefined) ?? paragraphAt(result, -1);
  // The expected document has no say in this, but one without paragraphs is the task's mistake.
  paragraphAt(expected, -1);
  return last.runs.every(({ isStruck }) => isStruck === true);
});

/** No run of the document or its tables is written in capitals. */
const noCapitals = wordCheck(({ tables, paragraphs }) => {
  const all = [...tables.flatMap((table) => table.paragraphs), ...paragraphs];
  return !runsOf(all).some(({ text }) => isUpper(text));
});

/** Equal texts, and italic runs are 14 points large; `strict` wants italics where the expected document has some. */
const italicsAre14 = wordMetric(async (result, expected, input) => {
  if ((await sameTexts(input)) === 0) return 0;
  const italics = (document: WordDocument) => runsOf(document.paragraphs).filter(({ isItalic }) => isItalic);
  const ours = italics(result);
  if (input.fidelity === 'strict' && ours.length === 0 && italics(expected).length > 0) return 0;
  return ours.every(({ fontSize }) => fontSize === 14);
});

/** Equal texts, and in tables runs that begin with a vowel are red, others blue, within `threshold` (3.5, CIEDE2000). */
const coloredWords = wordMetric(async (result, _expected, input) => {
  if ((await sameTexts(input)) === 0) return 0;
  const threshold = input.options.number('threshold', 3.5);
  return runsOf(result.tables.flatMap((table) => table.paragraphs)).every((run) => {
    const [first] = run.text;
    if (first === undefined) return true;
    const { color } = run;
    const wanted = 'aeiou'.includes(first.toLowerCase()) ? RED : BLUE;
    return color !== undefined && colorDistance(color, wanted) <= threshold;
  });
});

export const runMetrics: Record<string, Metric> = {
  compare_font_names: compareFontNames,
  compare_subscript_contains: compareSubscripts,
  compare_insert_equation: compareEquations,
  compare_contains_image: compareContainsImage,
  contains_page_break: containsPageBreak,
  evaluate_strike_through_last_paragraph: lastParagraphStruck,
  evaluate_conversion: noCapitals,
  check_italic_font_size_14: italicsAre14,
  evaluate_colored_words_in_tables: coloredWords,
};
