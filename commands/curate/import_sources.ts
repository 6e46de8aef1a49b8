import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { importDart } from '../../lib/curation/import/dart.ts';
import type { GivenPath } from '../../lib/curation/import/folder.ts';
import { type Form, otherForm } from '../../lib/curation/import/guess.ts';
import type { ImportParts } from '../../lib/curation/import/importer.ts';
import { importJsonl } from '../../lib/curation/import/jsonl.ts';
import { importOsworld } from '../../lib/curation/import/osworld.ts';
import { DartError } from '../../lib/errors.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { blobsFolder } from './blobs.ts';
import { readTaskFacts } from './import_tasks.ts';
import { type Skipped, skipRecord } from './input.ts';

/** What each form is made of, for those who gave something else. */
const WANTED: Readonly<Record<Form, string>> = {
  dart: 'the conversations TASK_TRACE.json, which lie beside their folders of images, or final_messages.json in these',
  osworld: 'a folder with traj.jsonl at some depth',
  jsonl: 'a file with a record on each line (docs/import.md)',
};

/** The records of all paths of the command line, in order; a path without any is told. */
export async function* importedRecords(
  context: CommandContext,
  counts: Record<string, number>,
  skipped: Skipped,
): AsyncGenerator<AnyRecord, void, void> {
  const { io, options, positionals } = context;
  const form = options.from as Form;
  const parts = await partsOf(context, counts, skipped);
  for (const given of positionals) {
    const source = { path: resolvePath(io, given), given };
    let records = 0;
    try {
      for await (const record of recordsOf(context, source, parts)) {
        records += 1;
        yield record;
      }
    } catch (error) {
      throw records === 0 ? await withForm(error, source, form) : error;
    }
    if (records > 0) continue;
    const hint = (await otherForm(source, form)) ?? WANTED[form];
    logOf(context).warn(`${given}: no episode of the form ${form} was found. Try: ${hint}`);
  }
}

async function partsOf(
  context: CommandContext,
  counts: Record<string, number>,
  skipped: Skipped,
): Promise<ImportParts> {
  const { io, options } = context;
  const dir = blobsFolder(context);
  const tasks = await readTaskFacts(context, skipped);
  const usual = options.from === 'dart' ? 'smart-resize' : 'absolute';
  return {
    // A fresh store each time keeps no list of the blobs of all episodes before.
    keep: (png) => new BlobStore(dir).put(png),
    has: (sha256) => new BlobStore(dir).has(sha256),
    task: (taskId) => tasks?.get(taskId) ?? null,
    reward: (options.reward as number | undefined) ?? null,
    requireScreens: options['require-screens'] === true,
    runId: (options['run-id'] as string | undefined) ?? `import-${options.from}`,
    coordinates: (options.coordinates ?? usual) as ImportParts['coordinates'],
    onBad: (error) => skipRecord(context, skipped, error),
    count: (name, by = 1) => {
      counts[name] = (counts[name] ?? 0) + by;
    },
    signal: io.signal,
  };
}

function recordsOf(context: CommandContext, source: GivenPath, parts: ImportParts): AsyncIterable<AnyRecord> {
  const { io, options } = context;
  if (options.from === 'dart') return importDart(source, parts);
  if (options.from === 'osworld') {
    const screens = options['initial-screens'] as string | undefined;
    const initialScreens = screens === undefined ? null : { path: resolvePath(io, screens), given: screens };
    return importOsworld(source, { renderReplies: options['render-replies'] === true, initialScreens }, parts);
  }
  const readBlob = (sha256: string) => new BlobStore(blobsFolder(context)).read(sha256);
  return importJsonl(source, { readBlob, checkBlobs: options.blobs !== undefined }, parts);
}

/** What is wrong with a first file is often that it is of another form: then that is what to try. */
async function withForm(error: unknown, source: GivenPath, form: Form): Promise<unknown> {
  if (!(error instanceof DartError)) return error;
  const hint = await otherForm(source, form).catch(() => null);
  if (hint === null) return error;
  const { message, where, exitCode, cause } = error;
  return new DartError(message, { where, exitCode, cause, hint });
}
