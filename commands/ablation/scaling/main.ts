import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DartError, messageOf } from '../../../lib/errors.ts';
import { curvesSvg } from '../../../lib/report/curves.ts';
import { markdownTable, type Section, writeSection } from '../report.ts';
import { numberOf, wholeOf } from '../settings.ts';
import { Stopped, stopSignal } from '../shell.ts';
import { type ScalingPoint, simulatedPoint } from './figure.ts';
import { realPoint } from './real.ts';
import { DESKTOPS, GROUP, PAPER } from './workload.ts';

/**
 * `make rollout-scaling`: ARPO's figure, rollout time of a batch and time of an epoch for 8 to 256 desktops: simulated,
 * and real up to REAL_DESKTOPS (64) embedded desktops as slow as ARPO's, SCALE (60) times faster. `--publish` also writes
 * docs/results.md.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { publish: { type: 'boolean', default: false } } });
  const { env } = process;
  const sizes = env.DESKTOPS ? env.DESKTOPS.split(',').map(sizeOf) : DESKTOPS;
  const most = wholeOf(env, 'REAL_DESKTOPS', 64);
  const [scale, batches] = [numberOf(env, 'SCALE', 60), wholeOf(env, 'BATCHES', 3)];
  const stop = stopSignal();
  const rows: { simulated: ScalingPoint; real: ScalingPoint | null }[] = [];
  for (const desktops of sizes) {
    stop.throwIfAborted();
    const simulated = await simulatedPoint(desktops);
    const about = Math.ceil((2 * batches * simulated.batch) / scale);
    if (desktops <= most) say(`${desktops} desktops, real: about ${about} s …`);
    const real = desktops <= most ? await realPoint(desktops, { scale, batches, stop }) : null;
    rows.push({ simulated, real });
    for (const [kind, point] of Object.entries({ simulated, real })) if (point) tell(kind, point);
  }
  const section = sectionOf(rows, { scale, batches });
  await writeSection(env.RUN_DIR || join('runs', 'rollout-scaling'), section, values.publish);
  process.stderr.write(`\n${section.text}\n`);
}

function sizeOf(text: string): number {
  const size = Number(text);
  if (Number.isInteger(size) && size > 0 && size % GROUP === 0) return size;
  throw new DartError(`a batch is whole groups of ${GROUP}, so not ${text} desktops`, { where: 'DESKTOPS' });
}

function tell(kind: string, { desktops, ...seconds }: ScalingPoint): void {
  for (const [name, value] of Object.entries(seconds)) {
    const metric = { type: 'metric', v: 1, name: `rollout-scaling/${kind}/${name}/${desktops}`, value, unit: 's' };
    process.stdout.write(`${JSON.stringify(metric)}\n`);
  }
}

function sectionOf(
  rows: readonly { simulated: ScalingPoint; real: ScalingPoint | null }[],
  { scale, batches }: { scale: number; batches: number },
): Section {
  const minutes = (seconds: number | undefined) => (seconds === undefined ? null : (seconds / 60).toFixed(1));
  const hours = (seconds: number | undefined) => (seconds === undefined ? null : (seconds / 3600).toFixed(2));
  const table = markdownTable({
    head: [
      ...[
        'desktops',
        'ARPO: batch, min',
        'epoch, h',
        'simulated: batch, min',
        'epoch, h',
        'real: batch, min',
        'epoch, h',
      ],
      ...['decoupled, simulated: epoch, h', 'real: epoch, h'],
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
  const points = (pick: (row: (typeof rows)[number]) => number | undefined) =>
    rows.flatMap((row) => {
      const y = pick(row);
      return y === undefined ? [] : [{ x: row.simulated.desktops, y: y / 3600 }];
    });
  const svg = curvesSvg({
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
  const text = [
    `A batch has one rollout a desktop, an epoch 128 tasks × 8 rollouts. Of the workload two numbers were chosen so that the *coupled* ends are the paper's; what lies between, and what is decoupled, follows (commands/ablation/scaling/workload.ts). Real: \`dart-rollout\` with embedded desktops that take the workload's times, ${scale} times faster, ${batches} batches, the epoch by their mean; decoupled by the rate over the middle half of as many rollouts.`,
    table,
    '![Rollout scaling](results/rollout-scaling.svg)',
  ].join('\n\n');
  return { name: 'rollout-scaling', text, pictures: { 'rollout-scaling.svg': svg } };
}

function say(line: string): void {
  process.stderr.write(`rollout-scaling: ${line}\n`);
}

main().catch((error: unknown) => {
  say(error instanceof Stopped ? 'stopped' : messageOf(error));
  process.exitCode = error instanceof Stopped ? error.code : 2;
});
