import { DartError } from '../../../errors.ts';
import type { FetchedFile } from '../../context.ts';
import { BrokenDocument } from '../../formats/broken.ts';
import { type WordDocument, wordDocumentOf } from '../../formats/docx/document.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { expectedFiles, resultFile } from '../input.ts';

type Score = number | boolean;
type Check = (result: WordDocument, input: MetricInput) => Score;
type Compare = (result: WordDocument, expected: WordDocument, input: MetricInput) => Score | Promise<Score>;

/** A metric that looks at the result alone: 0 where that is missing or no Word document. */
export function wordCheck(check: Check): Metric {
  return (input) => {
    const file = resultFile(input);
    if (file === null) return 0;
    return Number(ofResult(() => check(wordDocumentOf(file.bytes), input)) ?? 0);
  };
}

/** A metric that holds the result to an expected document, which has to be readable. */
export function wordMetric(compare: Compare): Metric {
  return async (input) => {
    const file = expectedFiles(input)[0]!;
    const expected = ofTask(file, input, () => wordDocumentOf(file.bytes));
    const result = resultFile(input);
    if (result === null) return 0;
    try {
      return Number(await compare(wordDocumentOf(result.bytes), expected, input));
    } catch (error) {
      if (!(error instanceof BrokenDocument)) throw error;
      await mustCompare(file, expected, compare, input);
      return 0;
    }
  };
}

/** As `wordMetric`, for metrics that look at the names too: what does not end in `.docx` is no document to them. */
export function docxMetric(compare: Compare): Metric {
  const metric = wordMetric(compare);
  return (input) => {
    const expected = expectedFiles(input)[0]!;
    if (kindOf(expected) !== 'docx') throw wrongKind(expected, input, '.docx');
    const result = resultFile(input);
    return result === null || kindOf(result) !== 'docx' ? 0 : metric(input);
  };
}

/** What a file's name ends in; case counts, as it does for OSWorld. */
export function kindOf(file: FetchedFile): string {
  return /\.([^./]*)$/.exec(file.name)?.[1] ?? '';
}

/** The error of a task whose expected file is of another kind than the metric reads. */
export function wrongKind(file: FetchedFile, { name, where }: MetricInput, wanted: string): DartError {
  return new DartError(`metric ${name}: the expected file ${file.name} is no ${wanted}`, { where });
}

/** An expected document that cannot be compared even with itself is what broke the comparison. */
async function mustCompare(file: FetchedFile, expected: WordDocument, compare: Compare, input: MetricInput) {
  try {
    await compare(expected, expected, input);
  } catch (error) {
    throw blamed(error, file, input);
  }
}

/** What `read` makes of an expected file; where that is broken, a DartError. */
export function ofTask<T>(file: FetchedFile, input: MetricInput, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw blamed(error, file, input);
  }
}

/** What `read` makes of the result; null where that is broken. */
export function ofResult<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof BrokenDocument) return null;
    throw error;
  }
}

function blamed(error: unknown, file: FetchedFile, { name, where }: MetricInput): unknown {
  if (!(error instanceof BrokenDocument)) return error;
  const message = `metric ${name}: the expected file ${file.name} cannot be compared: ${error.message}`;
  return new DartError(message, { where, cause: error });
}
