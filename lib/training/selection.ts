import { selectSteps } from '../../native/index.ts';
import { type Example, exampleOfSample } from './examples.ts';
import type { WholeGroup } from './groups.ts';
import type { Spelling } from './spelling.ts';

/** A group with the steps that will be learned from. */
export interface SelectedGroup {
  groupId: string;
  kept: Example[];
  /** Steps that could have been kept. */
  steps: number;
  /** Steps whose reply the vocabulary cannot spell. */
  unspelt: number;
  /** Entropy at the quantile; null where nothing was left out by it. */
  threshold: number | null;
}

/** Mean token entropy of each reply under the current policy, in nats. */
export type MeasureEntropy = (examples: readonly Example[]) => Promise<ArrayLike<number>>;

/**
 * Keeps the steps of a whole group at or above the (1 − keep) quantile of their entropies (design §9), whatever the
 * micro-batches. Entropies are those that came with the samples; `measure` is asked for the ones that are missing.
 */
export async function selectGroup(
  group: WholeGroup,
  settings: { keep: number; spelling: Spelling; measure: MeasureEntropy },
): Promise<SelectedGroup> {
  const { keep, spelling, measure } = settings;
  const spelt = group.samples
    .map(({ sample, where }) => exampleOfSample(sample, where, spelling))
    .filter((example) => example !== null);
  const counts = { groupId: group.groupId, steps: spelt.length, unspelt: group.samples.length - spelt.length };
  if (keep >= 1 || spelt.length === 0) return { ...counts, kept: spelt, threshold: null };
  const entropies = await entropiesOf(spelt, measure);
  const { selected, threshold } = selectSteps({
    stepEntropy: entropies,
    stepGroup: new Int32Array(spelt.length),
    groups: 1,
    keep,
  });
  return { ...counts, kept: spelt.filter((_, i) => selected[i] === 1), threshold: threshold[0]! };
}

async function entropiesOf(examples: readonly Example[], measure: MeasureEntropy): Promise<Float64Array> {
  const missing = examples.filter((example) => example.entropy === null);
  const measured = missing.length > 0 ? await measure(missing) : [];
  let next = 0;
  return Float64Array.from(examples, (example) => example.entropy ?? measured[next++]!);
}
