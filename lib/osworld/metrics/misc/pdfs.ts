import { isFile } from '../../context.ts';
import { pdfImages, pdfPageCount, pdfText } from '../../formats/pdf.ts';
import { hashDistance, perceptualHash } from '../../formats/picture/similarity.ts';
import type { Metric } from '../../kinds.ts';
import { textRatio } from '../../similarity.ts';
import { decode, expectedFiles, resultFile, rulesOf } from '../input.ts';
import { ofAgent, ofTask, onBothFiles } from './both.ts';

/** Bits of 64 in which two pictures that count as the same may differ. */
const SAME_PICTURE = 5;

/** Similarity of the texts, 0..1; of several files the mean, where a missing or broken result counts 0. */
const comparePdfs: Metric = async (input) => {
  const expected = expectedFiles(input);
  const results = Array.isArray(input.result) ? input.result : [input.result];
  let sum = 0;
  for (const [index, file] of expected.entries()) {
    const result = results[index];
    const text = await ofAgent(isFile(result) ? result : null, pdfText);
    if (text !== null) sum += textRatio(text, await ofTask(file, pdfText, input));
  }
  return sum / expected.length;
};

/** The share of pictures, in their order, that look the same; 0 where there are not as many. */
const comparePdfImages: Metric = onBothFiles(pdfImages, (result, expected) => {
  if (result.length !== expected.length) return 0;
  if (expected.length === 0) return 1;
  const [one, other] = [result, expected].map((images) => images.map(perceptualHash));
  const same = one!.filter((hash, index) => hashDistance(hash, other![index]!) <= SAME_PICTURE);
  return same.length / expected.length;
});

const RELATIONS: Record<string, (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};

/** `{relation, ref_value}` on the number of pages. */
const pdfPages: Metric = async (input) => {
  const rules = rulesOf(input);
  const relation = RELATIONS[rules.text('relation')];
  if (relation === undefined) throw rules.wrong('relation', `one of ${Object.keys(RELATIONS).join(', ')}`);
  const reference = rules.number('ref_value');
  const pages = await ofAgent(resultFile(input), pdfPageCount);
  return Number(pages !== null && relation(pages, reference));
};

/** Every value of the expected JSON object stands in the text. */
const goldText: Metric = async (input) => {
  const file = expectedFiles(input)[0]!;
  const wanted = await ofTask(file, () => JSON.parse(decode(file)) as Record<string, string>, input);
  const text = await ofAgent(resultFile(input), pdfText);
  return Number(text !== null && Object.values(wanted).every((value) => text.includes(value)));
};

/** The metrics of PDF files. */
export const pdfMetrics: Record<string, Metric> = {
  compare_pdfs: comparePdfs,
  compare_pdf_images: comparePdfImages,
  check_pdf_pages: pdfPages,
  is_gold_text_included_in_pdf: goldText,
};
