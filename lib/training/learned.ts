import { createHash } from 'node:crypto';
import { type Batch, examplesOf } from './engine.ts';
import type { Example } from './examples.ts';
import { type LearnedMaterial, type TrainerState, updatesOf } from './state.ts';

/** How material is gone through: what decides which units each update learns from, beside the material itself. */
export interface Order {
  /** Steps, pairs or episodes of an update. */
  batchUnits: number;
  seed: number;
}

const NOUNS = { sft: 'demonstrations', dpo: 'pairs', kto: 'episodes' } as const;

/**
 * Where a run is in its passes over one material. A folder may learn from many, one after the other and between updates
 * from samples: each has a place of its own, which the state keeps.
 */
export class Place {
  /** Updates of one pass. */
  readonly perPass: number;
  readonly #state: TrainerState;
  readonly #unknown: boolean;
  #here: LearnedMaterial;

  /** @param batch All units; at least one, and none of samples. */
  constructor(state: TrainerState, batch: Batch, { batchUnits, seed }: Order) {
    if (batch.kind === 'policy') throw new Error('samples are not learned from in passes');
    this.perPass = Math.ceil(batch.units.length / batchUnits);
    this.#state = state;
    const here = { objective: batch.kind, sha256: digestOf(batch), batch: batchUnits, seed };
    const known = state.materials?.find((other) => sameMaterial(here, other) && sameOrder(here, other));
    this.#unknown = isUnknown(state);
    this.#here = known ?? { ...here, since: state.updates, at: 0, updates: 0 };
    state.epochs = this.#passes;
  }

  /** Parts of passes that are done: the number of the next one. */
  get at(): number {
    return this.#here.at;
  }

  /** Updates that other material or samples made. */
  get othersUpdates(): number {
    return updatesOf(this.#state) - this.#here.updates;
  }

  /** The next part is done; its update was made, or skipped. */
  advance(made: boolean): void {
    const before = this.#here;
    this.#here = { ...before, at: before.at + 1, updates: before.updates + Number(made) };
    const others = (this.#state.materials ?? []).filter((other) => other !== before);
    this.#state.materials = [...others, this.#here];
    this.#state.epochs = this.#passes;
  }

  /** A line for people: where it begins or goes on; null where the run begins with it. `odd` is one to warn of. */
  describe(epochs: number): { line: string; odd: boolean } | null {
    const { objective, at, since } = this.#here;
    const what = `these ${NOUNS[objective]}`;
    const passes = Math.round((100 * at) / this.perPass) / 100;
    if (at >= epochs * this.perPass) {
      const done = `${what} are learned already, in ${passes === 1 ? '1 pass' : `${passes} passes`}`;
      const more = `--epochs ${this.#passes + 1} for another one, or another --seed to begin with them anew`;
      return { line: `${done}: nothing is left to do. Try: ${more}`, odd: false };
    }
    if (at > 0) return { line: `goes on with ${what} at pass ${passes} of ${epochs}`, odd: false };
    if (since === 0) return null;
    if (this.#unknown) {
      const line = `no version here says what its updates learned from: begins with ${what} at version ${since}`;
      return { line: `${line}. Try: --max-updates ${updatesOf(this.#state)}, if they are learned already`, odd: true };
    }
    return { line: `${this.#reason(what)} at version ${since}${this.#heldTo()}`, odd: false };
  }

  #reason(what: string): string {
    const { materials = [] } = this.#state;
    const same = materials.findLast((other) => sameMaterial(this.#here, other));
    if (same) return `${what} come in another order (${differenceOf(same, this.#here)}): begins with them anew`;
    if (!materials.some(({ objective }) => objective === this.#here.objective)) return `begins with ${what}`;
    return `other ${NOUNS[this.#here.objective]} than before: begins with them`;
  }

  /** The reference of preferences stays what the folder began with. */
  #heldTo(): string {
    if (this.#here.objective === 'sft') return '';
    return '; the policy is held to the one that the folder began with (to hold it to this version, start another folder from it)';
  }

  get #passes(): number {
    return Math.floor(this.#here.at / this.perPass);
  }
}

type Identity = Pick<LearnedMaterial, 'objective' | 'sha256' | 'batch' | 'seed'>;

function sameMaterial(one: Identity, other: Identity): boolean {
  return one.objective === other.objective && one.sha256 === other.sha256;
}

function sameOrder(one: Identity, other: Identity): boolean {
  return one.batch === other.batch && one.seed === other.seed;
}

function differenceOf(before: Identity, now: Identity): string {
  const seed = before.seed === now.seed ? [] : [`--seed ${now.seed}, not ${before.seed}`];
  const batch = before.batch === now.batch ? [] : [`${now.batch} an update, not ${before.batch}`];
  return [...seed, ...batch].join('; ');
}

/** Updates of a folder from before this was kept: all from samples only where no pass was ever counted. */
function isUnknown({ materials, groups, epochs }: TrainerState): boolean {
  return materials === undefined && (groups.length === 0 || epochs > 0);
}

/** Of all that is learned from, whichever file and line it came from. */
function digestOf(batch: Batch): string {
  const hash = createHash('sha256');
  const line = (value: unknown) => hash.update(`${JSON.stringify(value)}\n`);
  if (batch.kind === 'dpo') for (const { chosen, rejected } of batch.units) line([chosen.length, rejected.length]);
  if (batch.kind === 'kto') for (const { episode, label } of batch.units) line([episode.length, label]);
  for (const example of examplesOf(batch)) line(contentOf(example));
  return hash.digest('hex');
}

function contentOf(example: Example): unknown[] {
  const { id, instruction, history, earlierScreenshots, screenshot, text, finishReason, tokens } = example;
  return [id, instruction, history, earlierScreenshots, screenshot, text, finishReason, [...tokens]];
}
