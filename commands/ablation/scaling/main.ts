import { lockRuns } from '../lock.ts';
import { type Call, playProgram } from '../play.ts';
import { SCALING } from '../programs.ts';
import { spoken } from '../queue.ts';
import { writeSection } from '../report.ts';
import { type ScalingPoint, simulatedPoint, soundPoint } from './figure.ts';
import { keptSpans, measure, measuredOf, measurementsOf, spansOf } from './real.ts';
import { type ScalingRow, scalingSection } from './report.ts';
import { type ScalingSettings, scalingSettingsFrom } from './settings.ts';

/**
 * `make rollout-scaling`: ARPO's figure, rollout time of a batch and time of an epoch for 8 to 256 desktops: simulated,
 * and real with embedded desktops as slow as ARPO's, some times faster. Records on stdout, the rest on stderr.
 */
async function main({ request, env, stop, say }: Call<keyof typeof SCALING.flags>): Promise<void> {
  const settings = scalingSettingsFrom(env);
  lockRuns(settings.dir, 'make rollout-scaling');
  const rows: ScalingRow[] = [];
  for (const desktops of settings.desktops) {
    stop.throwIfAborted();
    const row = await rowOf(desktops, settings, { stop, say });
    rows.push(row);
    for (const [kind, point] of Object.entries({ simulated: row.simulated, real: row.real }))
      if (point) tell(kind, point);
  }
  const section = scalingSection(rows, settings);
  await writeSection(settings.dir, section, request.flags.has('publish'));
  process.stderr.write(`\n${section.text}\n`);
}

async function rowOf(
  desktops: number,
  settings: ScalingSettings,
  { stop, say }: Pick<Call<never>, 'stop' | 'say'>,
): Promise<ScalingRow> {
  const simulated = await simulatedPoint(desktops);
  if (desktops > settings.realDesktops) return { simulated, real: null, doubts: [] };
  const { dir } = settings;
  const missing = measurementsOf(desktops, settings).filter((one) => keptSpans(dir, one, simulated) === null);
  const seconds = missing.reduce((sum, { rounds }) => sum + (rounds * simulated.batch) / settings.scale, 0);
  say(
    `${desktops} desktops, real: ${missing.length > 0 ? `about ${spoken(Math.ceil(seconds))} …` : 'measured before'}`,
  );
  const measured = await measuredOf(desktops, settings, (one) =>
    spansOf(dir, one, simulated, () => measure(one, stop)),
  );
  const { point, doubts } = soundPoint(desktops, measured, simulated);
  return { simulated, real: point, doubts };
}

function tell(kind: string, { desktops, ...seconds }: ScalingPoint): void {
  for (const [name, value] of Object.entries(seconds)) {
    const metric = { type: 'metric', v: 1, name: `rollout-scaling/${kind}/${name}/${desktops}`, value, unit: 's' };
    process.stdout.write(`${JSON.stringify(metric)}\n`);
  }
}

playProgram(SCALING, main);
