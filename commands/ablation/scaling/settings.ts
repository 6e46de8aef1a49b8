import { DartError } from '../../../lib/errors.ts';
import { type Environment, Variables } from '../program.ts';
import { SCALING } from '../programs.ts';
import { DESKTOPS, GROUP } from './workload.ts';

/** What is measured, from the environment. */
export interface ScalingSettings {
  dir: string;
  /** Numbers of desktops, and the most that are real. */
  desktops: readonly number[];
  realDesktops: number;
  /** How many times faster than the workload. */
  scale: number;
  batches: number;
}

/** Reads them. @throws DartError naming the variable that makes no sense */
export function scalingSettingsFrom(env: Environment): ScalingSettings {
  const variables = new Variables(SCALING, env);
  return {
    dir: variables.folder('RUN_DIR'),
    desktops: [...new Set(variables.list('DESKTOPS', DESKTOPS.map(String))?.map(sizeOf) ?? DESKTOPS)],
    realDesktops: variables.whole('REAL_DESKTOPS'),
    scale: variables.number('SCALE'),
    batches: variables.whole('BATCHES'),
  };
}

function sizeOf(text: string): number {
  const size = Number(text);
  if (Number.isInteger(size) && size > 0 && size % GROUP === 0) return size;
  const hint = `DESKTOPS=${DESKTOPS.join(',')}`;
  throw new DartError(`a batch is whole groups of ${GROUP}, so not ${text} desktops`, { where: 'DESKTOPS', hint });
}
