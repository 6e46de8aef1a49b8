import { curvesSvg } from '../../../lib/report/curves.ts';
import { counted, markdownTable, type Section } from '../report.ts';
import { type Doubt, LEAST_ROLLOUTS, MOST_SLOWDOWN, type ScalingPoint } from './figure.ts';
import type { ScalingSettings } from './settings.ts';
import { lastRolloutBias, PAPER } from './workload.ts';

/** What was simulated and measured of so many desktops. */
export interface ScalingRow {
  simulated: ScalingPoint;
  /** Null where there are too many desktops for this machine. */
  real: ScalingPoint | null;
  doubts: readonly Doubt[];
}

/** The section `rollout-scaling` of docs/results.md. */
export function scalingSection(
  rows: readonly ScalingRow[],
  { scale, batches }: Pick<ScalingSettings, 'scale' | 'batches'>,
): Section {
  const text = [
    `A batch has one rollout a desktop, an epoch 128 tasks × 8 rollouts. Of the workload two numbers were chosen so that the *coupled* ends are the paper's; what lies between, and what is decoupled, follows (commands/ablation/scaling/workload.ts). Real: \`dart-rollout\` with embedded desktops that take the workload's times, ${scale} times faster; coupled ${counted(batches, 'batch', 'batches')}, the epoch by their mean; decoupled ${batches + 1} rollouts of each desktop, the epoch by the rate from the first beginning of a rollout to the last. Of a rollout that is under way at the end the part before counts; more of these are long ones, so that each desktop is given about ${lastRolloutBias().toFixed(4)} rollouts too many. These first rollouts begin together and ask the server together; in the four hours that are simulated, desktops drift apart, and the server has less to do at once.`,
    tableOf(rows),
    ...notesOf(rows, scale),
    '![Rollout scaling](results/rollout-scaling.svg)',
  ].join('\n\n');
  return { name: 'rollout-scaling', text, pictures: { 'rollout-scaling.svg': picture(rows) } };
}

function tableOf(rows: readonly ScalingRow[]): string {
  const minutes = (seconds: number | null | undefined) => (seconds == null ? null : (seconds / 60).toFixed(1));
  const hours = (seconds: number | null | undefined) => (seconds == null ? null : (seconds / 3600).toFixed(2));
  return markdownTable({
    head: [
      ...['desktops', 'ARPO: batch, min', 'epoch, h', 'simulated: batch, min', 'epoch, h'],
      ...['real: batch, min', 'epoch, h', 'decoupled, simulated: epoch, h', 'real: epoch, h'],
    ],
    rows: rows.map(({ simulated, real }) => [
      simulated.desktops,
      PAPER[simulated.desktops]?.batchMinutes ?? null,
      PAPER[simulated.desktops]?.epochHours ?? null,
      minutes(simulated.batch),
      hours(simulated.epoch),
      minutes(real?.batch),
      hours(real?.epoch),
      hours(simulated.decoupledEpoch),
      hours(real?.decoupledEpoch),
    ]),
  });
}

/** Why real figures are not there. */
function notesOf(rows: readonly ScalingRow[], scale: number): string[] {
  const sizes = (doubt: Doubt) =>
    rows
      .filter(({ doubts }) => doubts.includes(doubt))
      .map(({ simulated }) => simulated.desktops)
      .join(', ');
  const [batch, decoupled, few] = [sizes('batch'), sizes('decoupled'), sizes('few')];
  const slow = `took more than ${MOST_SLOWDOWN} times what the workload says, so that it was one of this machine and not of the workload. It is not kept: the same command measures again, and a smaller SCALE than ${scale} asks less of the machine.`;
  return [
    ...(batch ? [`Coupled not told with ${batch} desktops: a real batch ${slow}`] : []),
    ...(decoupled ? [`Decoupled not told with ${decoupled} desktops: an epoch ${slow}`] : []),
    ...(few
      ? [
          `Decoupled not told with ${few} desktops: there were fewer than ${LEAST_ROLLOUTS} rollouts of each while all had work. BATCHES=2 or more gives a rate.`,
        ]
      : []),
  ];
}

function picture(rows: readonly ScalingRow[]): string {
  const points = (pick: (row: ScalingRow) => number | null | undefined) =>
    rows.flatMap((row) => {
      const y = pick(row);
      return y == null ? [] : [{ x: row.simulated.desktops, y: y / 3600 }];
    });
  return curvesSvg({
    title: 'Hours of an epoch: 1,024 rollouts',
    x: 'desktops',
    y: 'hours',
    logX: true,
    curves: [
      { name: 'coupled, simulated', dashed: true, points: points(({ simulated }) => simulated.epoch) },
      { name: 'coupled, real', points: points(({ real }) => real?.epoch) },
      { name: 'decoupled, simulated', dashed: true, points: points(({ simulated }) => simulated.decoupledEpoch) },
      { name: 'decoupled, real', points: points(({ real }) => real?.decoupledEpoch) },
    ],
  });
}
