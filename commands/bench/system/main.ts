import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../../lib/cli/paths.ts';
import { printTable } from '../../../lib/cli/table.ts';
import { messageOf } from '../../../lib/errors.ts';
import { readWorkload } from '../../../lib/rollout/simulate/workload.ts';
import { runCluster } from './cluster.ts';
import { figuresOf, type Measured, measuredOf, simulated, tableOf } from './figures.ts';
import { timeline } from './timeline.ts';
import { cycleEnds, until } from './window.ts';

/**
 * `make bench-system`: the papers' workload with real processes, coupled (`--mode batch --sync global`) and decoupled,
 * on the same desktops, workers and latencies, all of them faster by one factor. Both are measured over the time that the
 * coupled run takes for its cycles. `metric` records on stdout, tables and timelines on stderr.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      workload: { type: 'string', default: join(packageRoot(), 'fixtures/workloads/dart.json') },
      scale: { type: 'string', default: '60' },
      cycles: { type: 'string', default: '3' },
    },
  });
  const file = values.workload;
  const workload = await readWorkload(file);
  const [scale, cycles] = [Number(values.scale), Number(values.cycles)];
  const say = (line: string) => process.stderr.write(`${line}\n`);
  say(`bench-system: ${workload.name}, ${workload.desktops.value} desktops, ${workload.workers.value} workers`);
  say(`bench-system: all latencies ${scale} times faster; ${cycles} cycles of the coupled run, about 30 s each …`);

  const batch = workload.batch_groups.value * workload.rollouts.value;
  const coupledRun = await runCluster(
    { workload, file, scale, coupled: true },
    (readings) => cycleEnds(readings, cycles * batch) !== null,
  );
  const end = cycleEnds(coupledRun.readings, cycles * batch)!;
  const coupled = measuredOf(coupledRun, end, scale);
  say('bench-system: decoupled, for the same time …');
  const seconds = end.seconds;
  const decoupledRun = await runCluster(
    { workload, file, scale, coupled: false },
    (readings) => until(readings, seconds) !== null,
  );
  const decoupled = measuredOf(decoupledRun, until(decoupledRun.readings, seconds)!, scale);
  const model = {
    coupled: await simulated(workload, { mode: 'batch', sync: 'global', updates: cycles, seconds: 1e9 }),
    decoupled: await simulated(workload, { mode: 'async', sync: 'one', seconds: seconds * scale }),
  };
  await report({ coupled, decoupled }, model);
  const minutes = ((seconds * scale) / 60).toFixed(0);
  for (const [name, run] of [
    ['coupled', coupledRun],
    ['decoupled', decoupledRun],
  ] as const) {
    say(`\n${name}, ${minutes} minutes of the workload: share in use`);
    for (const line of timeline(run.readings.filter((reading) => reading.seconds <= seconds + 0.05))) say(line);
  }
}

async function report(
  real: { coupled: Measured; decoupled: Measured },
  model: { coupled: Measured; decoupled: Measured },
): Promise<void> {
  const metrics = figuresOf(real, model);
  for (const metric of metrics) process.stdout.write(`${JSON.stringify({ type: 'metric', v: 1, ...metric })}\n`);
  const { head, rows } = tableOf(real, model);
  await printTable({ stderr: process.stderr }, head, rows);
}

main().catch((error: unknown) => {
  process.stderr.write(`bench-system: ${messageOf(error)}\n`);
  process.exitCode = 2;
});
