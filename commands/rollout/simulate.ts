import { join } from 'node:path';
import { readInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { Measured } from '../../lib/rollout/simulate/measured.ts';
import { simulate } from '../../lib/rollout/simulate/simulation.ts';
import type { SimulationEnd } from '../../lib/rollout/simulate/simulation_options.ts';
import { sweepDesktops } from '../../lib/rollout/simulate/sweep.ts';
import { readWorkload, type Workload } from '../../lib/rollout/simulate/workload.ts';
import { utilisation } from '../../lib/rollout/usage.ts';
import type { BenchMetric } from '../../lib/stream/bench.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';

type Mode = 'async' | 'batch';
/** A measurement; null where there was nothing to measure. */
type Figure = Omit<BenchMetric, 'value'> & { value: number | null; at_least?: number };

/** Virtual hours of each point of a sweep. */
const SWEEP_HOURS = 4;

/** `dart-rollout simulate` */
export async function run(context: CommandContext): Promise<number> {
  const { options, io } = context;
  const output = await openOutput(context);
  const workload = await workloadOf(context);
  const size = sizeOf(context, workload);
  const modes: Mode[] = options.mode === 'both' ? ['batch', 'async'] : [options.mode as Mode];
  const figures: Figure[] = [];
  let coupled: SimulationEnd | null = null;
  for (const mode of modes) {
    const end = await simulate({ workload, ...size, mode, ...limitsOf(context, mode), signal: io.signal });
    figures.push(...figuresOf(end, mode, coupled));
    coupled = end;
  }
  if (options.sweep === true) figures.push(...(await sweepFigures(context, workload)));
  for (const figure of figures) await output.write({ type: 'metric', v: SCHEMA_VERSION, ...figure });
  await output.write({
    type: 'summary',
    v: SCHEMA_VERSION,
    command: 'dart-rollout simulate',
    workload: workload.name,
    ...size,
  });
  await output.close();
  if (options.table === true) await printTable(io, ['figure', 'value', 'unit', 'ratio'], figures.map(rowOf));
  return EXIT.ok;
}

async function workloadOf(context: CommandContext): Promise<Workload> {
  const { options, io } = context;
  const given = options.workload as string | undefined;
  const path = given === undefined ? join(packageRoot(), 'fixtures/workloads/dart.json') : resolvePath(io, given);
  const workload = await readWorkload(path);
  const from = options.from as string | undefined;
  if (from === undefined) return workload;
  const measured = new Measured();
  for await (const { record, where } of readInputs(context, [from], { count: 0 }))
    if (record.type === 'trajectory') measured.add(parseRecord('trajectory', record, where));
  return measured.applied(workload, from);
}

function sizeOf({ options }: CommandContext, workload: Workload): { desktops: number; workers: number } {
  const gpus = options.gpus as number | undefined;
  const desktops = (options.desktops as number | undefined) ?? workload.desktops.value;
  const workers = options.workers as number | undefined;
  if (gpus === undefined) return { desktops, workers: workers ?? workload.workers.value };
  if (workers !== undefined) throw new DartError('--gpus and --workers say the same thing twice', { where: '--gpus' });
  const fit = Math.floor(gpus / workload.gpus_per_worker.value);
  if (fit > 0) return { desktops, workers: fit };
  throw new DartError(`a worker of this workload takes ${workload.gpus_per_worker.value} GPUs`, { where: '--gpus' });
}

function limitsOf(context: CommandContext, mode: Mode) {
  const { options } = context;
  const sync = (options.sync as 'one' | 'global' | undefined) ?? (mode === 'batch' ? 'global' : 'one');
  if (mode === 'batch' && sync === 'one') logOf(context).warn('a batch waits for all workers, one after the other');
  const seconds = 3600 * (options.hours as number);
  return { sync, seconds, updates: options.updates as number | undefined, seed: (options.seed as number) ?? 0 };
}

/** Figures of one run; of the second of two with their ratios to the first. */
function figuresOf(end: SimulationEnd, mode: Mode, first: SimulationEnd | null): Figure[] {
  const values = valuesOf(end);
  const before = first && valuesOf(first);
  return values.map(({ name, value, unit }, index) => {
    const other = before?.[index]?.value;
    const compared = other && value !== null ? { against: 'batch', ratio: value / other } : {};
    return { name, value, unit, mode, ...compared };
  });
}

function valuesOf({ usage, updates, groups, staleness }: SimulationEnd): Figure[] {
  const used = utilisation(usage);
  const hours = usage.seconds / 3600;
  return [
    { name: 'env_utilisation', value: used.env_utilisation, unit: 'share' },
    { name: 'worker_utilisation', value: used.worker_utilisation, unit: 'share' },
    { name: 'actions_per_minute', value: used.actions_per_minute, unit: 'actions/min' },
    { name: 'trajectories_per_minute', value: used.trajectories_per_minute, unit: 'trajectories/min' },
    { name: 'updates_per_hour', value: updates / hours, unit: 'updates/h' },
    { name: 'groups_learned', value: groups.finished > 0 ? groups.learned / groups.finished : null, unit: 'share' },
    { name: 'staleness_mean', value: staleness.mean, unit: 'versions' },
    ...staleness.shares.map((value, versions) => ({ name: `staleness/${versions}`, value, unit: 'share' })),
  ];
}

async function sweepFigures(context: CommandContext, workload: Workload): Promise<Figure[]> {
  const { options, io } = context;
  const hours = Math.min(SWEEP_HOURS, options.hours as number);
  const { points, best, atLeast } = await sweepDesktops(workload, {
    seed: (options.seed as number) ?? 0,
    seconds: 3600 * hours,
    signal: io.signal,
  });
  const figures = points.map(({ desktops_per_worker, actions_per_minute_per_worker }) => ({
    name: `sweep/${desktops_per_worker}`,
    value: actions_per_minute_per_worker,
    unit: 'actions/min/worker',
  }));
  const log = logOf(context);
  const most = points.at(-1)!.desktops_per_worker;
  if (best === null)
    log.warn(`a worker is not full with ${most} desktops: at least ${atLeast} for each, maybe many more`);
  if (options.from !== undefined) {
    log.warn('with --from no request is slowed down by others, so that more desktops always look better');
  }
  const figure = { name: 'best_desktops_per_worker', value: best, unit: 'desktops' };
  return [...figures, best === null ? { ...figure, at_least: atLeast } : figure];
}

function rowOf({
  name,
  value,
  unit,
  against,
  ratio,
  at_least,
  ...more
}: Figure & { mode?: string }): (string | null)[] {
  const label = more.mode === undefined ? name : `${more.mode} ${name}`;
  const compared = ratio === undefined ? null : `${ratio.toFixed(2)} × ${against}`;
  const unknown = at_least === undefined ? '–' : `≥ ${at_least}`;
  return [label, value === null ? unknown : value.toPrecision(4), unit, compared];
}
