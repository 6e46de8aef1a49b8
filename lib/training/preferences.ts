import { DartError, EXIT } from '../errors.ts';
import { counted } from '../stream/counted.ts';
import { parseRecord } from '../stream/parse.ts';
import type { ReadRecord } from '../stream/reader.ts';
import type { Preference } from '../stream/records.ts';
import type { Episode, LabelledEpisode, Pair } from './engine.ts';
import type { Material } from './epochs.ts';
import { examplesOfSteps } from './examples.ts';
import type { Objective } from './presets.ts';
import type { Spelling } from './spelling.ts';

type PreferenceObjective = Extract<Objective, { kind: 'dpo' | 'kto' }>;
type KtoObjective = Extract<Objective, { kind: 'kto' }>;

export interface PreferenceOptions {
  passOn: (record: ReadRecord['record']) => Promise<void>;
  onBadRecord: (error: unknown) => void;
}

/** All pairs (dpo) or labelled episodes (kto) out of a stream with `preference` records. */
export async function collectPreferences(
  input: AsyncIterable<ReadRecord>,
  spelling: Spelling,
  objective: PreferenceObjective,
  options: PreferenceOptions,
): Promise<Material> {
  return objective.kind === 'dpo'
    ? pairs(await gather(input, 'dpo', (read) => pairOf(read, spelling), options))
    : labelled(await gather(input, 'kto', (read) => labelledOf(read, spelling), options), objective);
}

interface Read {
  preference: Preference;
  where: string;
}

interface Gathered<Unit> {
  units: Unit[];
  /** Records with a reply that the vocabulary cannot spell: a part of an episode would be another episode. */
  unspelt: number;
}

/** @param unitOf Null where a reply cannot be spelt. */
async function gather<Unit>(
  input: AsyncIterable<ReadRecord>,
  kind: 'dpo' | 'kto',
  unitOf: (read: Read) => Unit | null,
  options: PreferenceOptions,
): Promise<Gathered<Unit>> {
  const all: Gathered<Unit> = { units: [], unspelt: 0 };
  for await (const { record, where } of input) {
    if (record.type !== 'preference') {
      await options.passOn(record);
      continue;
    }
    try {
      const preference = parseRecord('preference', record, where);
      refuseOther(preference, kind, where);
      const unit = unitOf({ preference, where });
      if (unit === null) all.unspelt += 1;
      else all.units.push(unit);
    } catch (error) {
      options.onBadRecord(error);
    }
  }
  return all;
}

function refuseOther({ objective }: Preference, kind: 'dpo' | 'kto', where: string): void {
  if (objective === kind) return;
  throw new DartError(`a preference for ${objective}, of which ${kind} cannot learn`, {
    where,
    hint: `dart-train --objective ${objective}, or dart-curate pairs --for ${kind}`,
  });
}

function pairOf({ preference, where }: Read, spelling: Spelling): Pair | null {
  const chosen = episodeOf(preference, 'chosen', where, spelling);
  const rejected = episodeOf(preference, 'rejected', where, spelling);
  return chosen && rejected && { chosen, rejected };
}

function labelledOf({ preference, where }: Read, spelling: Spelling): LabelledEpisode | null {
  const episode = episodeOf(preference, 'completion', where, spelling);
  return episode && { episode, label: preference.label === true };
}

function episodeOf(
  preference: Preference,
  side: 'chosen' | 'rejected' | 'completion',
  where: string,
  spelling: Spelling,
): Episode | null {
  // The schema promises the sides of the record's objective.
  const { trajectory_id: id, steps } = preference[side]!;
  if (steps.length === 0) throw new DartError(`not a valid preference: ${side}.steps: there is no step`, { where });
  const examples = examplesOfSteps({ id, instruction: preference.instruction, steps }, where, spelling);
  return examples.every((example) => example !== null) ? examples : null;
}

function pairs({ units, unspelt }: Gathered<Pair>): Material {
  const steps = units.reduce((sum, { chosen, rejected }) => sum + chosen.length + rejected.length, 0);
  return {
    batch: { kind: 'dpo', units },
    counts: { pairs: units.length, preferred_steps: steps, unspelt_pairs: unspelt },
    note: `${counted(units.length, 'pair')} of episodes, ${counted(steps, 'step')}${left(unspelt, 'pair')}`,
    problem: units.length > 0 ? null : nothing('dpo', unspelt),
  };
}

function labelled({ units, unspelt }: Gathered<LabelledEpisode>, objective: KtoObjective): Material {
  const steps = units.reduce((sum, { episode }) => sum + episode.length, 0);
  const desirable = units.filter(({ label }) => label).length;
  const undesirable = units.length - desirable;
  const kinds = `${desirable} desirable and ${undesirable} undesirable`;
  return {
    batch: { kind: 'kto', units },
    counts: { desirable, undesirable, preferred_steps: steps, unspelt_episodes: unspelt },
    note: `${kinds} episodes, ${counted(steps, 'step')}${left(unspelt, 'episode')}`,
    problem: units.length === 0 ? nothing('kto', unspelt) : oneKind(desirable, undesirable),
    advice: unbalanced(desirable, undesirable, objective),
  };
}

/** The range that the authors of KTO recommend for the weights of all desirable episodes over those of the others. */
const BALANCE = [1, 4 / 3] as const;

function unbalanced(desirable: number, undesirable: number, objective: KtoObjective): string | null {
  const { desirableWeight, undesirableWeight } = objective;
  const [wanted, other] = [desirable * desirableWeight, undesirable * undesirableWeight];
  const ratio = wanted / other;
  // A weight of 0 was asked for.
  if (wanted === 0 || other === 0 || (ratio >= BALANCE[0] * 0.99 && ratio <= BALANCE[1] * 1.01)) return null;
  const [low, high] = BALANCE.map((bound) => ((bound * other) / desirable).toFixed(2));
  const weigh = `the desirable episodes weigh ${ratio.toFixed(2)} times the undesirable ones, best are 1 to 1.33`;
  return `${weigh}. Try: --desirable-weight ${low} to ${high}`;
}

function left(unspelt: number, what: string): string {
  return unspelt > 0 ? ` (${counted(unspelt, what)} not spelt)` : '';
}

function nothing(kind: 'dpo' | 'kto', unspelt: number): DartError {
  const why = unspelt > 0 ? `the policy cannot spell the replies of any (${unspelt})` : 'none came';
  return new DartError(`there are no preferences to learn from: ${why}; nothing was published`, {
    hint: `dart-curate pairs --for ${kind} … | dart-train --objective ${kind} …`,
    exitCode: EXIT.negative,
  });
}

function oneKind(desirable: number, undesirable: number): DartError | null {
  if (desirable > 0 && undesirable > 0) return null;
  const all = counted(desirable + undesirable, 'episode');
  return new DartError(`kto needs desirable and undesirable episodes, and has only ${all} of one kind`, {
    where: `${desirable} desirable, ${undesirable} undesirable`,
    hint: 'more trajectories, or another --threshold of dart-curate pairs; nothing was published',
    exitCode: EXIT.negative,
  });
}
