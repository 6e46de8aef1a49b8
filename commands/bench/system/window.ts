import type { UsageReading } from '../../../lib/rollout/usage.ts';

/**
 * The last reading before the next batch begins, once so many trajectories have ended and all desktops have stood idle:
 * the end of a whole number of cycles. Null while that has not come.
 */
export function cycleEnds(readings: readonly UsageReading[], trajectories: number): UsageReading | null {
  const after = readings.findIndex((reading) => reading.trajectories >= trajectories);
  if (after < 0) return null;
  const idle = readings.findIndex((_, index) => index > after && inUse(readings, index) === 0);
  if (idle < 0) return null;
  const next = readings.findIndex((_, index) => index > idle && inUse(readings, index) > 0);
  return next < 0 ? null : readings[next - 1]!;
}

/** The first reading of at least so many seconds. */
export function until(readings: readonly UsageReading[], seconds: number): UsageReading | null {
  return readings.find((reading) => reading.seconds >= seconds) ?? null;
}

function inUse(readings: readonly UsageReading[], index: number): number {
  return readings[index]!.desktop_busy_s - readings[index - 1]!.desktop_busy_s;
}
