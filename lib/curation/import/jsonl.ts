import { z } from 'zod';
import { DartError } from '../../errors.ts';
import { parseRecord } from '../../stream/parse.ts';
import type { AnyRecord } from '../../stream/records.ts';
import { checkTrajectory } from './check.ts';
import { readReply } from './dart.ts';
import { trajectoryOf } from './episode.ts';
import { type GivenPath, ImportFolder } from './folder.ts';
import { type Imported, type ImportParts, note } from './importer.ts';
import { type JsonLine, jsonLines } from './lines.ts';
import { pngSize } from './png.ts';
import { keepFile } from './screenshot.ts';
import type { EpisodeStep } from './steps.ts';

/** The simple form: what anybody can write who has an agent's replies and its screenshots. */
const simpleSchema = z.looseObject({
  task_id: z.string().min(1),
  instruction: z.string().min(1).optional(),
  domain: z.string().optional(),
  /** Which rollout of the task it is, where there are several alike. */
  trace: z.string().optional(),
  policy: z.string().optional(),
  reward: z.number().min(0).max(1).nullish(),
  steps: z
    .array(
      z.looseObject({
        response: z.string(),
        /** A path from the file's folder, or the sha256 of a picture that the blob store has. */
        screenshot: z.string().min(1),
      }),
    )
    .min(1),
});

export interface JsonlOptions {
  /** A blob's bytes, to know its size. */
  readBlob: (sha256: string) => Promise<Uint8Array>;
  /** Whether trajectory records are held to having their screenshots in the blob store. */
  checkBlobs: boolean;
}

/**
 * NDJSON: our own trajectory records, which pass as they are, and lines of the simple form
 * `{task_id, instruction, reward, steps: [{response, screenshot}]}`. Other records pass through.
 */
export async function* importJsonl(
  source: GivenPath,
  options: JsonlOptions,
  parts: ImportParts,
): AsyncGenerator<Imported | AnyRecord, void, void> {
  const { folder, isFile, path: real } = await ImportFolder.of(source);
  if (!isFile) throw new DartError('it is a folder, not a file', { where: source.given, hint: 'FILE.ndjson' });
  for await (const line of jsonLines(real, source.given, parts.onBad)) {
    parts.signal.throwIfAborted();
    if ('torn' in line) {
      parts.count('lines_cut_short');
      yield note('line_cut_short', line.torn, {});
      continue;
    }
    try {
      yield* importLine(line, folder, options, parts);
    } catch (error) {
      parts.onBad(error);
    }
  }
}

async function* importLine(
  { value, where }: JsonLine,
  folder: ImportFolder,
  options: JsonlOptions,
  parts: ImportParts,
): AsyncGenerator<Imported | AnyRecord, void, void> {
  if (value.type === undefined) {
    yield* importSimple(value, where, folder, options, parts);
    return;
  }
  if (value.type !== 'trajectory') {
    if (typeof value.type !== 'string') throw new DartError('"type" is not a text', { where });
    yield value as AnyRecord;
    return;
  }
  const trajectory = checkTrajectory(parseRecord('trajectory', value, where), where);
  const lost = options.checkBlobs
    ? trajectory.steps.find((step) => !parts.has(step.observation.screenshot.sha256))
    : undefined;
  if (lost) {
    parts.count('empty_episodes');
    const { task_id, trajectory_id } = trajectory;
    yield note('episode_left_out', where, {
      task_id,
      trajectory_id,
      reason: 'missing_screenshot',
      step_index: lost.index,
    });
    return;
  }
  parts.count('steps', trajectory.steps.length);
  parts.count('parse_errors', trajectory.steps.filter((step) => step.parse_error !== undefined).length);
  if (trajectory.reward === null) parts.count('without_reward');
  yield trajectory;
}

async function* importSimple(
  value: unknown,
  where: string,
  folder: ImportFolder,
  options: JsonlOptions,
  parts: ImportParts,
): AsyncGenerator<Imported, void, void> {
  const parsed = simpleSchema.safeParse(value);
  if (!parsed.success) throw new DartError(wrong(parsed.error), { where, hint: 'docs/import.md, "--from jsonl"' });
  const { task_id, instruction, domain, trace, policy, reward, steps } = parsed.data;
  const read: EpisodeStep[] = [];
  for (const { response, screenshot: name } of steps) {
    const screenshot = await screenOf(name, folder, options, parts);
    read.push({ ...readReply(response, screenshot, parts), screenshot });
  }
  const episode = {
    from: 'jsonl' as const,
    where,
    taskId: task_id,
    domain: domain ?? null,
    instruction: instruction ?? null,
    policy: policy ?? 'imported',
    trace: trace ?? '',
    steps: read,
    reward: reward === null || reward === undefined ? null : { reward },
    error: null,
    startedAt: null,
    finishedAt: null,
  };
  yield* trajectoryOf(episode, parts);
}

async function screenOf(
  name: string,
  folder: ImportFolder,
  options: JsonlOptions,
  parts: ImportParts,
): Promise<EpisodeStep['screenshot']> {
  if (!/^[0-9a-f]{64}$/.test(name)) return keepFile(folder, [folder.root], name, parts);
  if (!parts.has(name)) return { file: name, refused: 'the blob store has no such picture' };
  const size = pngSize(Buffer.from(await options.readBlob(name)));
  if (typeof size === 'string') return { file: name, refused: size };
  return { sha256: name, media_type: 'image/png', ...size };
}

function wrong(error: z.ZodError): string {
  const issue = error.issues[0]!;
  const place = issue.path.length === 0 ? 'the line' : issue.path.map(String).join('.');
  const message = issue.message.replace(/^Invalid input: /, '');
  return `not a trajectory in the simple form: ${place}: ${message}`;
}
