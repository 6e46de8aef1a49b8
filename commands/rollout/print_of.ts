import type { Output } from '../../lib/cli/output.ts';
import type { Trajectory } from '../../lib/stream/records.ts';

/** Prints those trajectories that are of this run, since an output is of one run; resolves with how many they were. */
export async function printOf(
  runId: string,
  trajectories: readonly Trajectory[],
  output: Pick<Output, 'write'>,
): Promise<number> {
  const ours = trajectories.filter(({ run_id }) => run_id === runId);
  for (const trajectory of ours) await output.write(trajectory);
  return ours.length;
}
