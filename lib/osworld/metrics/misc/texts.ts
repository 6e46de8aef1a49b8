import { sequenceRatio } from '../../difflib.ts';
import { Fields } from '../../fields.ts';
import { WordDocument } from '../../formats/docx/document.ts';
import type { Metric } from '../../kinds.ts';
import { equal, isRecord } from '../../rules.ts';
import { textRatio } from '../../similarity.ts';
import { linesOf, resultFile, resultText, rulesOf } from '../input.ts';
import { splitLines, strip } from '../sheets/python.ts';
import { asText, ofAgent, onBothFiles } from './both.ts';

/** `difflib`'s ratio of the lines, 0..1. */
const diffText = onBothFiles(asText, (result, expected) => sequenceRatio(splitLines(result), splitLines(expected)));

/** A Python number; null for other text. */
function numberIn(text: string): number | null {
  const plain = strip(text).replace(/(?<=\d)_(?=\d)/g, '');
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)) return Number(plain);
  return /^[+-]?(?:nan|inf(?:inity)?)$/i.test(plain) ? Number.NaN : null;
}

/** Where the expected text is a number: it stands in the result, or the result is one within 1e-4. Else equal texts. */
const compareResults = onBothFiles(asText, (result, expected) => {
  const [found, wanted] = [strip(result), strip(expected)];
  const reference = numberIn(wanted);
  if (reference === null) return found === wanted;
  if (found.includes(wanted)) return true;
  return Math.abs((numberIn(found) ?? Number.NaN) - reference) < 1e-4;
});

const FILE_MARKS = ['#!', '# -*- coding:', '# coding:', '# coding='];

/** The same Python lines: marks at the file's head, empty lines and trailing blanks do not count. */
const comparePython = onBothFiles(asText, (result, expected) => codeLines(result) === codeLines(expected));

function codeLines(text: string): string {
  const lines = splitLines(text);
  const isMark = (line: string) => FILE_MARKS.some((mark) => strip(line).startsWith(mark));
  let start = 0;
  while (start < Math.min(3, lines.length) && isMark(lines[start]!)) start += 1;
  const kept = lines.slice(start).filter((line) => strip(line) !== '');
  return kept.map((line) => expandTabs(line).trimEnd()).join('\n');
}

/** Python's `expandtabs(4)` of one line. */
function expandTabs(line: string): string {
  let made = '';
  for (const letter of line) made += letter === '\t' ? ' '.repeat(4 - (made.length % 4)) : letter;
  return made;
}

const TIME = /([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)/;

/** `{expected}`: so many lines have a time of day in them. */
const lineNumber: Metric = (input) => {
  const expected = rulesOf(input).number('expected');
  const text = resultText(input);
  return Number(text !== null && linesOf(text).filter((line) => TIME.test(line)).length === expected);
};

/** Three words of a Word document, each as similar as to the most similar of `expected`: the mean, 0..1. */
const placeMath: Metric = async (input) => {
  const places = rulesOf(input).texts('expected');
  const document = await ofAgent(resultFile(input), (bytes) => new WordDocument(bytes).texts);
  const words = (document ?? []).flatMap((text) => text.split(/\s+/).filter((word) => word !== ''));
  if (words.length !== 3) return 0;
  const scores = words.map((word) => Math.max(0, ...places.map((place) => textRatio(word, place))));
  return scores.reduce((sum, score) => sum + score, 0) / 3;
};

/** Every key of the result has the same value in the expected JSON object. */
const allIncluded: Metric = onBothFiles(
  (_bytes, file) => JSON.parse(new TextDecoder().decode(file.bytes)) as unknown,
  (result, expected) => {
    if (!isRecord(result) || !isRecord(expected)) return false;
    return Object.entries(result).every(([key, value]) => key in expected && equal(expected[key], value));
  },
);

/** The file's text is the expected one, what a terminal showed. */
const terminalAndText: Metric = (input) => {
  const text = resultText(input);
  return Number(Boolean(text) && text === input.expected);
};

/** The result is the text `expected`. */
const compareAnswer: Metric = (input) => {
  const expected = rulesOf(input).text('expected');
  return Number(Boolean(input.result) && input.result === expected);
};

/** `{value}`: a style of the page has it as its background image. */
const backgroundImage: Metric = (input) => {
  const rule = `background-image: url('${rulesOf(input).text('value')}')`;
  const styles = (resultText(input) ?? '').matchAll(/<style\b[^>]*>([\s\S]*?)<\/style\s*>/gi);
  return Number([...styles].some(([, style]) => style!.includes(rule)));
};

/** Minutes: the time of the second line's second field (CSV) is so near to now, on the clock of this machine. */
const speedtestTime: Metric = (input) => {
  const limit = new Fields(`rules of ${input.name}`, input.where, { minutes: input.expected }).number('minutes');
  const line = linesOf(resultText(input) ?? '')[1];
  const [, hours, minutes] = /(\d\d?):(\d\d)$/.exec((line?.split(',')[1] ?? '').slice(-5)) ?? [];
  if (hours === undefined) return 0;
  const now = new Date();
  return Number(Math.abs(Number(hours) * 60 + Number(minutes) - now.getHours() * 60 - now.getMinutes()) < limit);
};

/** Text files against texts. */
export const plainMetrics: Record<string, Metric> = {
  diff_text_file: diffText,
  compare_result_files: compareResults,
  compare_python_pure_text: comparePython,
  check_line_number: lineNumber,
  fuzzy_place_math: placeMath,
  is_included_all_json_objects: allIncluded,
  compare_terminal_and_txt: terminalAndText,
  compare_answer: compareAnswer,
  check_html_background_image: backgroundImage,
  compare_time_in_speedtest_results: speedtestTime,
};
