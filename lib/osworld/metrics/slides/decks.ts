import { DartError, messageOf } from '../../../errors.ts';
import type { FetchedFile } from '../../context.ts';
import { Presentation } from '../../formats/pptx/presentation.ts';
import type { MetricInput } from '../../kinds.ts';
import { expectedFiles, resultFile } from '../input.ts';

/**
 * Scores the presentation that the agent left. What cannot be read in it, or breaks where OSWorld's Python would raise,
 * is a 0; a DartError from `score` passes.
 */
export function scoreDeck(input: MetricInput, score: (deck: Presentation) => number): number {
  const file = resultFile(input);
  return file === null ? 0 : agentsWork(() => score(new Presentation(file.bytes)));
}

/**
 * Scores the agent's presentation beside the expected one. Where that breaks, the expected file is to blame if scoring
 * it beside itself breaks too: a DartError. Else it is the agent's doing: 0.
 */
export function scoreDecks(
  input: MetricInput,
  score: (result: Presentation, expected: Presentation) => number,
): number {
  const file = resultFile(input);
  const gold = expectedFiles(input)[0]!;
  if (file === null) return 0;
  const expected = readExpected(gold, input, () => new Presentation(gold.bytes));
  try {
    return score(new Presentation(file.bytes), expected);
  } catch (cause) {
    if (cause instanceof DartError) throw cause;
    readExpected(gold, input, () => score(expected, expected));
    return 0;
  }
}

/** What `work` gives; 0 where it throws anything but a DartError. */
export function agentsWork(work: () => number): number {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof DartError) throw cause;
    return 0;
  }
}

function readExpected<T>(file: FetchedFile, input: MetricInput, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new DartError(`metric ${input.name}: the expected file ${file.name} cannot be used: ${messageOf(cause)}`, {
      where: input.where,
      hint: 'a presentation in .pptx that OSWorld itself can read',
      cause,
    });
  }
}
