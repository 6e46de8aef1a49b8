import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { xdgFolder } from '../../lib/cli/paths.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import type { Curator } from '../../lib/curation/curator.ts';
import { type Cursor, CursorFile, type CursorKeeper, StoreCursor } from '../../lib/curation/cursor.ts';
import { closeParts, type FilePart, type NewParts, newParts } from '../../lib/curation/file-places.ts';
import type { FilePlace } from '../../lib/curation/open-file.ts';
import { StoreInput } from '../../lib/curation/store-input.ts';
import type { CurrentVersions } from '../../lib/curation/versions.ts';
import type { Store } from '../../lib/store/index.ts';
import type { ReadRecord } from '../../lib/stream/reader.ts';
import { partBatches, type Skipped } from './input.ts';

/** Repeated runs: what `--cursor`, `--lock` and `--from-store` ask for. */
export interface Repeated {
  batches: AsyncIterable<ReadRecord[]>;
  /** Null without `--cursor`. */
  cursor: OpenCursor | null;
}

/** A cursor of this run. */
export interface OpenCursor {
  before: Cursor;
  /** Moves it, after the output is complete. @returns how many groups are carried to the next run. */
  move(curator: Curator, versions: CurrentVersions): Promise<number>;
}

/** @throws UsageError for options that do not go together. */
export function checkRepeated({ options, positionals }: CommandContext): void {
  const cursor = options.cursor as string | undefined;
  const files = positionals.filter((name) => name !== '-');
  if (options['from-store'] === true) {
    if (positionals.length > 0) throw new UsageError('expected no files', { where: '--from-store' });
    if (options.follow === true) throw new UsageError('--follow reads a stream', { where: '--from-store' });
  } else if (cursor !== undefined && files.length < Math.max(1, positionals.length)) {
    const hint = 'files, or --from-store';
    throw new UsageError('standard input has no place to go on from', { where: '--cursor', hint });
  }
  if (cursor === undefined) return;
  if (options.follow === true)
    throw new UsageError('--follow never ends, so there is no next run', { where: '--cursor' });
  if (!/^[\w.-]+$/.test(cursor)) {
    throw new UsageError(`expected letters, digits, . _ and - but received '${cursor}'`, { where: '--cursor' });
  }
}

/** Takes the lock that `--lock` names, or the cursor's own; without either there is none. */
export async function lockOf({ io, options, command }: CommandContext): Promise<() => void> {
  const cursor = options.cursor as string | undefined;
  const given = options.lock as string | undefined;
  if (given === undefined && cursor === undefined) return () => {};
  const path = given === undefined ? cursorPath(io.env, `${cursor}.lock`) : resolvePath(io, given);
  const { takeLock } = await import('../../lib/store/lock.ts');
  return takeLock(path, `${command}${cursor === undefined ? '' : ` --cursor ${cursor}`}`);
}

/** The input of a repeated run; null where the options ask for none. */
export async function repeatedInput(
  context: CommandContext,
  store: Store | null,
  skipped: Skipped,
): Promise<Repeated | null> {
  const { options, io, positionals } = context;
  const name = options.cursor as string | undefined;
  if (options['from-store'] === true) {
    const keeper = name === undefined ? null : new StoreCursor(store!, name);
    const before = await keeper?.load();
    const input = new StoreInput(store!, before?.state.store ?? { rollout_seq: 0, gaps: [] });
    const moved = () => ({ files: [], store: input.next });
    return { batches: input.batches(), cursor: keeper && opened(keeper, before!, moved) };
  }
  if (name === undefined) return null;
  const keeper = new CursorFile(cursorPath(io.env, `${name}.ndjson`));
  const before = await keeper.load();
  const places = new Map(before.state.files.map((place) => [place.path, place]));
  const paths = positionals.map((path) => resolvePath(io, path));
  const batches = fileBatches(context, paths, places, skipped);
  return {
    batches,
    cursor: opened(keeper, before, () => ({ files: [...places.values()], store: before.state.store })),
  };
}

/** Where cursors and their locks lie. */
function cursorPath(env: Readonly<Record<string, string | undefined>>, name: string): string {
  return join(xdgFolder('state', env), 'cursors', name);
}

function opened(
  keeper: CursorKeeper,
  before: Cursor,
  moved: () => Pick<Cursor['state'], 'files' | 'store'>,
): OpenCursor {
  return {
    before,
    async move(curator, versions) {
      const { groups, closed } = await curator.leave();
      const newest = Math.max(before.state.newest ?? Number.NEGATIVE_INFINITY, curator.newest);
      const state = {
        v: 1 as const,
        ...moved(),
        closed,
        versions: versions.snapshot(),
        newest: Number.isFinite(newest) ? newest : null,
      };
      await keeper.save({ state, groups });
      return groups.length;
    },
  };
}

/** The new lines of all files; `places` is moved on as they are read. */
async function* fileBatches(
  context: CommandContext,
  paths: readonly string[],
  places: Map<string, FilePlace>,
  skipped: Skipped,
): AsyncGenerator<ReadRecord[], void, void> {
  const found: NewParts[] = [];
  try {
    // All are looked at before the first is read.
    for (const path of paths) found.push(await newParts(path, places.get(path)));
    for (const { parts, next, warnings } of found) {
      for (const warning of warnings) logOf(context).warn(warning);
      for (const part of parts) {
        const named = { path: part.path, lines: part.place.lines };
        yield* partBatches(context, counted(part, context), named, skipped);
      }
      places.set(next.path, next);
    }
  } finally {
    for (const { parts } of found) await closeParts(parts);
  }
}

/** The bytes of a part; its place counts their newlines. */
async function* counted(part: FilePart, { io }: CommandContext): AsyncGenerator<Uint8Array, void, void> {
  const { file, start, end, place } = part;
  const stream = file.createReadStream({ start, end: end - 1, highWaterMark: 1 << 20 });
  for await (const chunk of addAbortSignal(io.signal, stream) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) place.lines += 1;
    yield chunk;
  }
}
