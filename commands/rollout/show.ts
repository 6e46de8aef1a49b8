import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { orLeftOut, readInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { xdgFolder } from '../../lib/cli/paths.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { columnsOf, wantsColour } from '../../lib/cli/terminal.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { reportPage, trajectoryPage } from '../../lib/report/trajectory/page.ts';
import { plainTrajectory } from '../../lib/report/trajectory/plain.ts';
import type { LoadBlob } from '../../lib/report/trajectory/screens.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { writeWholeStream } from '../../lib/stream/files.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { outputError } from '../../lib/stream/writer.ts';
import { readsWhatIsThere, requireBlobs } from '../blobs.ts';
import { spellingOf } from './show_tokens.ts';

/** Columns where the output is no terminal. */
const PLAIN_WIDTH = 100;

/** `dart-rollout show`. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options } = context;
  if (typeof options.html === 'string' && readsWhatIsThere(context)) requireBlobs(context);
  const chosen = await choose(context);
  if (chosen.length === 0) {
    logOf(context).error('no trajectory came. Try: a file that dart-rollout wrote');
    return EXIT.negative;
  }
  if (typeof options.html === 'string') await writePage(context, chosen, options.html);
  else {
    const width = columnsOf(io.stdout, PLAIN_WIDTH);
    await print(context, plainTrajectory(chosen[0]!, { colour: wantsColour(io.stdout, io.env), width }));
  }
  return EXIT.ok;
}

/** The trajectory that --id or --index names, or without them the first; for a page all of them. */
async function choose(context: CommandContext): Promise<Trajectory[]> {
  const { id, index, html } = context.options as { id?: string; index?: number; html?: string };
  if (id !== undefined && index !== undefined) {
    throw new DartError('both name a trajectory', { where: '--id and --index', hint: 'one of them' });
  }
  const all = id === undefined && index === undefined && html !== undefined;
  const found: Trajectory[] = [];
  let count = 0;
  const skipped = { count: 0 };
  for await (const { record, where } of readInputs(context, context.positionals, skipped)) {
    if (record.type !== 'trajectory') continue;
    const trajectory = orLeftOut(context, skipped, () => parseRecord('trajectory', record, where));
    if (trajectory === null) continue;
    const wanted = id === undefined ? count === (index ?? 0) : isOf(trajectory, id);
    if (all || wanted) found.push(trajectory);
    count += 1;
    if (wanted && !all) break;
  }
  if (found.length > 0 || (id === undefined && index === undefined)) return found;
  const where = id === undefined ? `--index ${index}` : `--id ${id}`;
  throw new DartError(`no such trajectory among the ${count} of the input`, { where, hint: 'jq -r .trajectory_id' });
}

function isOf({ trajectory_id, task_id }: Trajectory, id: string): boolean {
  return trajectory_id === id || task_id === id;
}

async function writePage(context: CommandContext, chosen: readonly Trajectory[], path: string): Promise<void> {
  const { options, io } = context;
  requireBlobs(context);
  const folder = options.blobs === undefined ? join(xdgFolder('state', io.env), 'blobs') : String(options.blobs);
  const screens = new Counted(new BlobStore(resolvePath(io, folder)));
  const loadBlob: LoadBlob = (sha256) => screens.read(sha256);
  const [first] = chosen;
  const page =
    chosen.length === 1
      ? trajectoryPage(first!, loadBlob, spellingOf)
      : reportPage({ ...listOf(chosen), trajectories: chosen, loadBlob, spell: spellingOf });
  if (path === '-') await print(context, page);
  else await writeWholeStream(resolvePath(io, path), page);
  if (screens.missing > 0) {
    const { missing, asked } = screens;
    logOf(context).warn(`${missing} of ${asked} screenshots are not in ${folder}. Try: --blobs DIR of that run`);
  }
}

function listOf(trajectories: readonly Trajectory[]) {
  const scored = trajectories.filter(({ reward }) => reward !== null);
  const mean = scored.reduce((sum, { reward }) => sum + reward!, 0) / scored.length;
  const runs = [...new Set(trajectories.map(({ run_id }) => run_id))];
  return {
    title: `${trajectories.length} trajectories`,
    facts: [
      [runs.length === 1 ? 'run' : 'runs', runs.slice(0, 5).join(', ') + (runs.length > 5 ? ', …' : '')],
      ['tasks', String(new Set(trajectories.map(({ task_id }) => task_id)).size)],
      ['reward', scored.length === 0 ? 'nothing scored' : `mean ${mean.toFixed(3)} over ${scored.length} scored`],
    ] as [string, string][],
  };
}

/** Counts the different screenshots that are asked for, and those that are not there. */
class Counted {
  asked = 0;
  missing = 0;
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  async read(sha256: string): Promise<Uint8Array> {
    this.asked += 1;
    try {
      return await this.#blobs.read(sha256);
    } catch (error) {
      this.missing += 1;
      throw error;
    }
  }
}

/** No faster than the reader takes it; that the reader leaves (`| head`) ends the command quietly. */
async function print({ io }: CommandContext, parts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(parts, io.stdout, { end: false, signal: io.signal });
  } catch (error) {
    io.signal.throwIfAborted();
    throw outputError(error, 'stdout');
  }
}
