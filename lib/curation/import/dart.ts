import { isUtf8 } from 'node:buffer';
import { access } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DartError } from '../../errors.ts';
import { parseReply } from '../../policy/grammar/index.ts';
import { parseJsonFile } from '../../stream/json.ts';
import { type ImageSource, instructionOf, isMessages, type Turn, turnsOf } from './dart_messages.ts';
import { type Episode, trajectoryOf } from './episode.ts';
import { entriesOf, type GivenPath, ImportFolder, walkFolders } from './folder.ts';
import type { Imported, ImportParts } from './importer.ts';
import { parseReward, type StatedReward } from './reward.ts';
import { keepFile, keepPng, NONE } from './screenshot.ts';
import type { EpisodeStep } from './steps.ts';

/** Names of a conversation that lies in its trace's own folder. */
const IN_TRACE_FOLDER = new Set(['final_messages.json', 'messages.json']);
/** `<uuid>_<trace>`, else what stands before `_trace-`, else before the last underscore. */
const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_(.+)$|^(.+?)_(trace-.+)$|^(.+)_([^_]+)$/i;

/**
 * DART's saved conversations (reference/dart-and-arpo.md §1.1), one trajectory a file: `<task>_<trace>.json` with a
 * folder of the same name beside it, or `<task>_<trace>/final_messages.json`; images as files or in base64, the reward
 * in `reward.txt` beside the images. For a folder of images that is given without its file, the file beside it is read.
 */
export async function* importDart(source: GivenPath, parts: ImportParts): AsyncGenerator<Imported, void, void> {
  const { folder, isFile, path: real } = await ImportFolder.of(source);
  if (isFile) {
    yield* importFile(folder, real, true, parts);
    return;
  }
  let found = false;
  for await (const { path: place, files } of walkFolders(folder, real)) {
    for (const name of files.filter((file) => file.endsWith('.json'))) {
      parts.signal.throwIfAborted();
      if (yield* importFile(folder, join(place, name), false, parts)) found = true;
    }
  }
  const beside = found ? null : await conversationBeside(source);
  if (beside !== null) yield* importDart(beside, parts);
}

/** `<task>_<trace>.json` beside a folder of that name, if there is one and the folder is a trace's. */
export async function conversationBeside({ path, given }: GivenPath): Promise<GivenPath | null> {
  const { folder, isFile, path: real } = await ImportFolder.of({ path, given });
  if (isFile) return null;
  const { files } = await entriesOf(folder, real);
  const name = `${basename(path)}.json`;
  const isTrace = files.some((file) => file === 'reward.txt' || file.endsWith('.png'));
  if (!isTrace || !(await isReadable(`${path}.json`))) return null;
  return { path: `${path}.json`, given: join(given, '..', name) };
}

async function isReadable(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Returns false for a file that is no conversation. */
async function* importFile(
  folder: ImportFolder,
  path: string,
  asked: boolean,
  parts: ImportParts,
): AsyncGenerator<Imported, boolean, void> {
  try {
    const episode = await episodeOf(folder, path, asked, parts);
    if (episode === null) return false;
    yield* trajectoryOf(episode, parts);
  } catch (error) {
    parts.onBad(error);
  }
  return true;
}

/** Null for JSON that is no conversation, unless that very file was asked for. */
async function episodeOf(
  folder: ImportFolder,
  path: string,
  asked: boolean,
  parts: ImportParts,
): Promise<Episode | null> {
  const where = folder.name(path);
  const json = await readJson(folder, path, where);
  if (!isMessages(json)) {
    if (!asked) return null;
    throw new DartError('not a list of messages with an assistant’s among them', { where, hint: 'a file of DART’s' });
  }
  const turns = turnsOf(json);
  const { name, places } = namesOf(path);
  const [taskId, trace] = splitName(name);
  await countTensors(folder, places[0], parts);
  const time = timeOf(trace);
  return {
    from: 'dart',
    where,
    taskId,
    domain: null,
    instruction: instructionOf(turns),
    policy: 'dart',
    trace,
    steps: await stepsOf(turns, folder, places, parts),
    reward: await rewardOf(folder, places[0]),
    error: null,
    startedAt: time,
    finishedAt: time,
  };
}

async function readJson(folder: ImportFolder, path: string, where: string): Promise<unknown> {
  const found = await folder.read(dirname(path), basename(path));
  if ('refused' in found) throw new DartError(`cannot read: ${found.refused}`, { where });
  if (!isUtf8(found.bytes)) throw new DartError('the file is not UTF-8', { where, hint: 'iconv -t UTF-8' });
  return parseJsonFile(found.bytes.toString('utf8'), where, 'a file of DART’s');
}

/** The trace's name, and where its images may be: its own folder first, then the one of the file. */
function namesOf(path: string): { name: string; places: [string, ...string[]] } {
  const place = dirname(path);
  if (IN_TRACE_FOLDER.has(basename(path))) return { name: basename(place), places: [place] };
  const name = basename(path, '.json');
  const own = join(place, name);
  return { name, places: [own, place] };
}

function splitName(name: string): [task: string, trace: string] {
  const found = NAME.exec(name);
  if (!found) return [name, ''];
  const [, uuid, uuidTrace, marked, markedTrace, before, after] = found;
  return [uuid ?? marked ?? before!, uuidTrace ?? markedTrace ?? after!];
}

/** Traces end in the second at which they began. */
function timeOf(trace: string): string | null {
  const seconds = /-(\d{10})$/.exec(trace)?.[1];
  return seconds === undefined ? null : new Date(Number(seconds) * 1000).toISOString();
}

async function stepsOf(
  turns: readonly Turn[],
  folder: ImportFolder,
  places: readonly string[],
  parts: ImportParts,
): Promise<EpisodeStep[]> {
  const steps: EpisodeStep[] = [];
  // The newest image since the last reply: what the model had before it.
  let seen: EpisodeStep['screenshot'] = NONE;
  for (const turn of turns) {
    if (turn.kind === 'image') seen = await keep(turn.source, folder, places, parts);
    if (turn.kind !== 'reply') continue;
    steps.push({ ...readReply(turn.text, seen, parts), screenshot: seen });
    seen = NONE;
  }
  return steps;
}

/** What the reply does to the screen that it saw; without a screen nothing can be said about places on it. */
export function readReply(
  text: string,
  screenshot: EpisodeStep['screenshot'],
  parts: Pick<ImportParts, 'coordinates'>,
): Pick<EpisodeStep, 'text' | 'actions' | 'parseError'> {
  if ('refused' in screenshot) return { text, actions: [], parseError: null };
  const { width, height } = screenshot;
  const { actions, parseError } = parseReply(text, { screen: { width, height }, coordinates: parts.coordinates });
  return { text, actions, parseError };
}

function keep(source: ImageSource, folder: ImportFolder, places: readonly string[], parts: ImportParts) {
  if ('file' in source) return keepFile(folder, places, source.file, parts);
  if ('png' in source) return keepPng(source.png, 'base64', parts);
  return Promise.resolve({ file: null, refused: source.refused });
}

async function rewardOf(folder: ImportFolder, place: string): Promise<StatedReward | null> {
  const found = await folder.read(place, 'reward.txt');
  if ('refused' in found) return null;
  return parseReward(found.bytes.toString('utf8'), folder.name(found.path));
}

/** Token ids and log-probabilities lie in PyTorch's own format, which only PyTorch should read: it can hold code. */
async function countTensors(folder: ImportFolder, place: string, parts: ImportParts): Promise<void> {
  if (!(await folder.hasFolder(place))) return;
  const { files } = await entriesOf(folder, place);
  parts.count('token_files_unread', files.filter((name) => /^data_for_step_\d+\.pt$/.test(name)).length);
}
