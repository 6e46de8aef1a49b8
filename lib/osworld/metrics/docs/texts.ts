import { Fields } from '../../fields.ts';
import { BrokenDocument } from '../../formats/broken.ts';
import { type WordDocument, wordDocumentOf } from '../../formats/docx/document.ts';
import { OdtDocument } from '../../formats/odt/document.ts';
import type { Metric } from '../../kinds.ts';
import { textRatio } from '../../similarity.ts';
import { expectedFiles, resultFile } from '../input.ts';
import { collapse, sameSet, sorted, strip } from './python_text.ts';
import { docxMetric, kindOf, ofResult, ofTask, wordMetric, wrongKind } from './word_metric.ts';

const READERS: Record<string, (bytes: Uint8Array) => string[]> = {
  docx: (bytes) => wordDocumentOf(bytes).texts,
  odt: (bytes) => new OdtDocument(bytes).texts,
};

/**
 * Paragraphs of two .docx or two .odt files. Options: `ignore_blanks` (white space counts as one blank; the default),
 * `ignore_case`, `ignore_order`, `delete_empty_lines`; `content_only` gives the similarity 0..1 of the texts, and so
 * does `fuzzy_match`, which without `ignore_blanks` is the mean over paragraphs.
 */
export const compareDocxFiles: Metric = (input) => {
  const expected = expectedFiles(input)[0]!;
  const read = READERS[kindOf(expected)];
  if (read === undefined) throw wrongKind(expected, input, '.docx or .odt');
  const wanted = ofTask(expected, input, () => read(expected.bytes));
  const result = resultFile(input);
  if (result === null || kindOf(result) !== kindOf(expected)) return 0;
  const found = ofResult(() => read(result.bytes));
  return found === null ? 0 : compareTexts(found, wanted, input.options);
};

/** The comparison with its default options, as other metrics make it before their own. */
export const sameTexts: Metric = (input) =>
  compareDocxFiles({ ...input, options: new Fields(input.options.owner, input.where, {}) });

function compareTexts(found: string[], wanted: string[], options: Fields): number {
  const [ours, theirs] = [prepared(found, options), prepared(wanted, options)];
  const fold = (text: string) => (options.flag('ignore_case') ? text.toLowerCase() : text);
  const isBlankFree = !options.has('ignore_blanks') || options.flag('ignore_blanks');
  if (isBlankFree || options.flag('content_only')) {
    const [a, b] = [fold(collapse(ours.join('\n'))), fold(collapse(theirs.join('\n')))];
    return options.flag('content_only') || options.flag('fuzzy_match') ? textRatio(a, b) : Number(a === b);
  }
  if (ours.length !== theirs.length) return 0;
  if (!options.flag('fuzzy_match')) return Number(ours.every((text, i) => fold(text) === fold(theirs[i]!)));
  if (ours.length === 0) return 1;
  return ours.reduce((sum, text, i) => sum + textRatio(fold(text), fold(theirs[i]!)), 0) / ours.length;
}

function prepared(texts: string[], options: Fields): string[] {
  const ordered = options.flag('ignore_order') ? sorted(texts) : texts;
  return options.flag('delete_empty_lines') ? ordered.filter((text) => strip(text) !== '') : ordered;
}

/** Paragraphs as far as both documents have them are equal. */
const compareInitLines = wordMetric(({ texts }, expected) => {
  const wanted = expected.texts;
  return texts.slice(0, wanted.length).every((text, i) => text === wanted[i]);
});

/** The documents have the same paragraphs, whatever their order and number; empty ones and outer blanks do not count. */
const compareDocxLines = wordMetric((result, expected) => {
  const lines = ({ texts }: WordDocument) => texts.map(strip).filter((text) => text !== '');
  return sameSet(lines(result), lines(expected));
});

/** Paragraphs without the empty ones are equal; `ignore_blanks` as in compare_docx_files. */
const compareIgnoringNewLines = docxMetric((result, expected, { options }) => {
  const linesOf = ({ texts }: WordDocument) => texts.filter((text) => text !== '');
  return compareTexts(linesOf(result), linesOf(expected), onlyBlanks(options));
});

/** Of the options of compare_docx_files the one that this metric knows. */
function onlyBlanks({ owner, where, values }: Fields): Fields {
  return new Fields(owner, where, { ignore_blanks: values.ignore_blanks });
}

/**
 * The entries after the first paragraph "References" (`reference_indicator`) of both documents, one by one. The mean
 * similarity counts from `reference_base_result` (0.5) on, which is 0, to 1.
 */
const compareReferences = docxMetric((result, expected, { options }) => {
  const title = options.text('reference_indicator', 'References');
  const base = options.number('reference_base_result', 0.5);
  const [ours, theirs] = [entriesAfter(title, result), entriesAfter(title, expected)];
  if (ours === null || theirs === null) return ours === theirs;
  if (ours.length !== theirs.length) return 0;
  if (ours.length === 0) throw new BrokenDocument(`nothing comes after ${JSON.stringify(title)}`);
  const mean = ours.reduce((sum, text, i) => sum + textRatio(text, theirs[i]!), 0) / ours.length;
  return mean >= base + 0.01 ? (mean - base) / (1 - base) : 0;
});

function entriesAfter(title: string, { texts }: WordDocument): string[] | null {
  const at = texts.indexOf(title);
  return at < 0 ? null : texts.slice(at + 1).filter((text) => strip(text) !== '');
}

export const textMetrics: Record<string, Metric> = {
  compare_docx_files: compareDocxFiles,
  compare_init_lines: compareInitLines,
  compare_docx_lines: compareDocxLines,
  compare_docx_files_and_ignore_new_lines: compareIgnoringNewLines,
  compare_references: compareReferences,
};
