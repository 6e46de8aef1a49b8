import { orLeftOut, readInputs } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { checkTrajectory } from '../../lib/curation/import/check.ts';
import { count } from '../../lib/curation/tally.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { type AnyRecord, SCHEMA_VERSION, type Trajectory } from '../../lib/stream/records.ts';
import { givenBlobs } from './blobs.ts';
import type { Skipped } from './input.ts';
import { noTrajectory, tellOfMissing } from './tell.ts';

export interface TrajectoryReading {
  skipped: Skipped;
  /** Trajectories left out because `--blobs` lacks one of their screenshots. */
  missingScreenshot: number;
  /** Trajectories that came, bad ones aside. */
  count: number;
  /** Takes records of other types, and events. */
  passOn: (record: AnyRecord) => Promise<void>;
}

/** What reading trajectories starts from. */
export function reading(passOn: (record: AnyRecord) => Promise<void>): TrajectoryReading {
  return { skipped: { count: 0 }, missingScreenshot: 0, count: 0, passOn };
}

/**
 * The trajectories of the input, checked: schema, outcome and reward in agreement, with `--blobs` the screenshots too.
 * Everything else goes to `passOn`. Bad records end the command, or with `--on-error skip` are told and counted.
 */
export async function* readTrajectories(
  context: CommandContext,
  subcommand: string,
  state: TrajectoryReading,
): AsyncGenerator<Trajectory, void, void> {
  const blobs = givenBlobs(context);
  const progress = new Progress(context, subcommand);
  const others: Record<string, number> = {};
  try {
    for await (const { record, where } of readInputs(context, context.positionals, state.skipped)) {
      if (record.type !== 'trajectory') {
        count(others, record.type);
        await state.passOn(record);
        continue;
      }
      const trajectory = orLeftOut(context, state.skipped, () =>
        checkTrajectory(parseRecord('trajectory', record, where), where),
      );
      if (trajectory === null) continue;
      state.count += 1;
      progress.update(() => `${state.count} trajectories`);
      const lost = blobs && trajectory.steps.find((step) => !blobs.has(step.observation.screenshot.sha256));
      if (!lost) {
        yield trajectory;
        continue;
      }
      state.missingScreenshot += 1;
      await state.passOn(leftOut(trajectory, lost.observation.screenshot.sha256));
    }
    if (state.count === 0) logOf(context).warn(noTrajectory(others, `dart-curate ${subcommand}`));
    if (state.missingScreenshot > 0) tellOfMissing(context, state.missingScreenshot, state.count);
  } finally {
    progress.stop();
  }
}

function leftOut({ trajectory_id, task_id }: Trajectory, sha256: string): AnyRecord {
  const about = { reason: 'missing_screenshot', trajectory_id, task_id, sha256 };
  return { type: 'event', v: SCHEMA_VERSION, event: 'trajectory_rejected', ...about };
}
