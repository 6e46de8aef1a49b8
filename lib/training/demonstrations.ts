import { DartError, EXIT } from '../errors.ts';
import { counted } from '../stream/counted.ts';
import { parseRecord } from '../stream/parse.ts';
import type { ReadRecord } from '../stream/reader.ts';
import type { Material } from './epochs.ts';
import { demonstrated, type Example, examplesOfSteps, examplesOfTrajectory } from './examples.ts';
import type { Spelling } from './spelling.ts';

export interface DemonstrationOptions {
  /** Least reward of a trajectory that is imitated; null takes all that were scored (noisy experts). */
  minReward: number | null;
  passOn: (record: ReadRecord['record']) => Promise<void>;
  onBadRecord: (error: unknown) => void;
}

interface Demonstrations {
  examples: Example[];
  /** Different ones: steps that come one by one are of the episode that they name. */
  episodes: number;
  /** Episodes that were scored below `minReward`, or ended in an error. */
  refused: number;
  /** Steps that the vocabulary cannot spell. */
  unspelt: number;
}

/**
 * All steps to imitate out of a stream of `trajectory`, `demonstration` and `sample` records. A demonstration has either
 * `instruction` and `steps`, as a trajectory has, or `instruction`, `history` and one `step`, as a sample has.
 */
export async function collectDemonstrations(
  input: AsyncIterable<ReadRecord>,
  spelling: Spelling,
  options: DemonstrationOptions,
): Promise<Material> {
  const all: Demonstrations = { examples: [], episodes: 0, refused: 0, unspelt: 0 };
  const taken = new Set<string>();
  const refused = new Set<string>();
  for await (const read of input) {
    if (!(read.record.type in READERS)) {
      await options.passOn(read.record);
      continue;
    }
    try {
      const steps = READERS[read.record.type as keyof typeof READERS](read, spelling, options.minReward);
      (steps === null ? refused : taken).add(episodeOf(read));
      if (steps !== null) add(all, steps);
    } catch (error) {
      options.onBadRecord(error);
    }
  }
  return materialOf({ ...all, episodes: taken.size, refused: refused.size });
}

function materialOf({ examples, episodes, refused, unspelt }: Demonstrations): Material {
  const left = [
    refused > 0 ? `${counted(refused, 'episode')} not imitated` : '',
    unspelt > 0 ? `${counted(unspelt, 'step')} not spelt` : '',
  ];
  const notes = left.filter(Boolean).join(', ');
  return {
    batch: { kind: 'sft', units: examples },
    counts: { episodes, refused, unspelt_steps: unspelt, demonstrated_steps: examples.length },
    note: `${counted(examples.length, 'step')} of ${counted(episodes, 'episode')} to imitate${notes ? ` (${notes})` : ''}`,
    problem: examples.length > 0 ? null : nothing(),
  };
}

function nothing(): DartError {
  return new DartError('there is nothing to imitate: no demonstrated step could be used; nothing was published', {
    hint: '--all-outcomes, or trajectories with successes',
    exitCode: EXIT.negative,
  });
}

/** Null where the record is not to be imitated. */
type Reader = (read: ReadRecord, spelling: Spelling, minReward: number | null) => (Example | null)[] | null;

const READERS = { trajectory: ofTrajectory, demonstration: ofDemonstration, sample: ofSample } satisfies Record<
  string,
  Reader
>;

function ofTrajectory({ record, where }: ReadRecord, spelling: Spelling, minReward: number | null) {
  const trajectory = parseRecord('trajectory', record, where);
  if (trajectory.reward === null) return null;
  if (minReward !== null && trajectory.reward < minReward) return null;
  return examplesOfTrajectory(trajectory, where, spelling);
}

function ofSample({ record, where }: ReadRecord, spelling: Spelling, minReward: number | null) {
  const { step, reward, trajectory_id: id, ...context } = parseRecord('sample', record, where);
  if (minReward !== null && reward < minReward) return null;
  return [demonstrated(step, { id, where, ...contextOf(context) }, spelling)];
}

function ofDemonstration({ record, where }: ReadRecord, spelling: Spelling) {
  const { steps, step, ...rest } = parseRecord('demonstration', record, where);
  const id = String(rest.trajectory_id ?? rest.task_id);
  if (steps) return examplesOfSteps({ id, instruction: rest.instruction, steps }, where, spelling);
  if (step) return [demonstrated(step, { id, where, ...contextOf(rest) }, spelling)];
  throw new DartError('not a valid demonstration: neither steps nor a step', {
    where,
    hint: 'docs/schemas/demonstration.json',
  });
}

/** What the prompt of a step that comes alone held. */
function contextOf(record: { instruction: string; history?: string[]; screenshots?: string[] }) {
  const { instruction, history = [], screenshots = [] } = record;
  return { instruction, history, earlierScreenshots: screenshots };
}

/** What tells episodes apart: the trajectory; without one the record, which is then an episode of its own. */
function episodeOf({ record, where }: ReadRecord): string {
  return typeof record.trajectory_id === 'string' ? record.trajectory_id : where;
}

function add(all: Demonstrations, steps: (Example | null)[]): void {
  const spelt = steps.filter((example) => example !== null);
  all.examples.push(...spelt);
  all.unspelt += steps.length - spelt.length;
}
