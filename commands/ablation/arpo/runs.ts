import { isRunOf, type Piece, type RunRecord } from '../job.ts';
import type { Measure } from '../measure.ts';
import { type ArpoArm, COMPARED, SELECTION } from './arms.ts';
import { measuresOf } from './measures.ts';
import { type ArpoSettings, type Given, pieceOf } from './pieces.ts';

/** An arm with a seed, and what it is evaluated on. */
export interface ArpoPiece {
  arm: ArpoArm;
  piece: Piece;
  measures: readonly Measure[];
}

/** Every arm of the first seed, then of the second, so that what is there at any time is paired. */
export function piecesOf(settings: ArpoSettings, given: Given, say: (line: string) => void): ArpoPiece[] {
  const seeds = Array.from({ length: settings.seeds }, (_, index) => index + 1);
  return seeds.flatMap((seed) => settings.arms.map((arm) => arpoPiece(settings, arm, seed, given, say)));
}

function arpoPiece(
  settings: ArpoSettings,
  arm: ArpoArm,
  seed: number,
  given: Given,
  say: (line: string) => void,
): ArpoPiece {
  const piece = pieceOf(settings, arm, seed, given, say);
  return { arm, piece, measures: measuresOf(settings, arm, seed, given.tasks) };
}

/** True for a run that these settings would make, of whatever arm and seed, in whatever folder. */
export function isArpoRun(settings: ArpoSettings, given: Given, run: RunRecord): boolean {
  const arm = [...COMPARED, ...SELECTION].find(({ name }) => name === run.name);
  if (arm === undefined) return false;
  const { piece, measures } = arpoPiece(settings, arm, run.seed, given, () => {});
  return isRunOf(run, piece, measures);
}
