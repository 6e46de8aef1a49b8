import { DartError } from '../../../errors.ts';
import { type WordDocument, wordDocumentOf } from '../../formats/docx/document.ts';
import type { Metric } from '../../kinds.ts';
import { expectedFiles, resultFile } from '../input.ts';
import { sameSet, strip } from './python_text.ts';
import { ofResult, ofTask, wordMetric } from './word_metric.ts';

/** Numbers of trains: the second of the four values of a line `time, train, station, platform`. */
function trainsIn(texts: string[]): string[] {
  return texts
    .map((text) => text.split(','))
    .filter((values) => values.length === 4)
    .map((values) => strip(values[1]!));
}

/** Lines of records without the blank ones and outer blanks. */
function linesOf({ texts }: WordDocument): string[] {
  return texts.map(strip).filter((text) => text !== '');
}

/**
 * Expected are two documents: the wanted one and the one that the task began with. 1 when the result takes its lines
 * from the latter, names no train twice, and has the trains and the number of lines of the former.
 */
const compareUniqueTrains: Metric = (input) => {
  const files = expectedFiles(input);
  const [wanted, initial] = files.map((file) => ofTask(file, input, () => linesOf(wordDocumentOf(file.bytes))));
  if (wanted === undefined || initial === undefined) {
    throw new DartError(`metric ${input.name} needs two expected documents`, { where: input.where });
  }
  const result = resultFile(input);
  const lines = result && ofResult(() => linesOf(wordDocumentOf(result.bytes)));
  if (lines === null) return 0;
  const [known, trains] = [new Set(initial), trainsIn(lines)];
  const isTaken = lines.every((line) => known.has(line)) && lines.length === wanted.length;
  return Number(isTaken && new Set(trains).size === trains.length && sameSet(trains, trainsIn(wanted)));
};

/** The expected document names no train twice, and just those that the result names. */
const checkNoDuplicates = wordMetric((result, expected) => {
  const [first, second] = [trainsIn(result.texts), trainsIn(expected.texts)];
  return new Set(second).size === second.length && sameSet(first, second);
});

export const recordMetrics: Record<string, Metric> = {
  compare_unique_train_records: compareUniqueTrains,
  check_no_duplicates: checkNoDuplicates,
};
