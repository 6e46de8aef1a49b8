import type { UsageReading } from '../../../lib/rollout/usage.ts';

const BARS = ' ▁▂▃▄▅▆▇█';
const COLUMNS = 72;

/** Two lines of bars: what share of desktops and of workers was in use, over the time of the readings. */
export function timeline(readings: readonly UsageReading[]): string[] {
  return [
    `desktops  |${bars(readings, 'desktop_busy_s', 'desktop_held_s')}|`,
    `workers   |${bars(readings, 'worker_busy_s', 'worker_held_s')}|`,
  ];
}

type Counter = Exclude<keyof UsageReading, 'seconds'>;

function bars(readings: readonly UsageReading[], used: Counter, held: Counter): string {
  const end = readings.at(-1)!.seconds;
  const at = (seconds: number, counter: Counter) => interpolated(readings, seconds, counter);
  return Array.from({ length: COLUMNS }, (_, column) => {
    const [from, to] = [(column * end) / COLUMNS, ((column + 1) * end) / COLUMNS];
    const share = (at(to, used) - at(from, used)) / Math.max(1e-9, at(to, held) - at(from, held));
    // What is in use at all is seen.
    return BARS[Math.min(8, Math.ceil(8 * share - 1e-9))];
  }).join('');
}

/** A counter at a moment between two readings; all begin at 0. */
function interpolated(readings: readonly UsageReading[], seconds: number, counter: Counter): number {
  const index = readings.findIndex((reading) => reading.seconds >= seconds - 1e-9);
  const after = readings[index < 0 ? readings.length - 1 : index]!;
  const before = readings[index - 1] ?? { seconds: 0, [counter]: 0 };
  const from = before[counter] as number;
  const share = (seconds - before.seconds) / (after.seconds - before.seconds);
  return from + Math.min(1, share) * (after[counter] - from);
}
