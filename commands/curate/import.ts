import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { presetOptions } from '../../lib/curation/options.ts';
import { isSuccess } from '../../lib/curation/success.ts';
import { EXIT } from '../../lib/errors.ts';
import { withoutPassword } from '../../lib/store/index.ts';
import { SCHEMA_VERSION, type Trajectory } from '../../lib/stream/records.ts';
import { blobsFolder } from './blobs.ts';
import { importedRecords } from './import_sources.ts';
import { ImportStore } from './import_store.ts';
import type { Skipped } from './input.ts';
import { givenStore } from './store.ts';

/** `dart-curate import`: runs from elsewhere become trajectory records. */
export async function run(context: CommandContext): Promise<number> {
  if (context.options['dry-run'] === true) return tellPlan(context);
  const store = await givenStore(context);
  const capacity = (context.options['pool-capacity'] as number | undefined) ?? presetOptions('dart').poolCapacity;
  const kept = store && new ImportStore(store, capacity);
  try {
    return await importAll(context, await openOutput(context), kept);
  } finally {
    await store?.close();
  }
}

/** What was seen, by name; all names are there from the start, so that summaries have one shape. */
const COUNTS = [
  'trajectories',
  'successes',
  'steps',
  'parse_errors',
  'steps_left_out',
  'incomplete',
  'incomplete_left_out',
  'empty_episodes',
  'without_reward',
  'without_instruction',
  'lines_cut_short',
  'token_files_unread',
] as const;

async function importAll(context: CommandContext, output: Output, kept: ImportStore | null): Promise<number> {
  const counts: Record<string, number> = Object.fromEntries(COUNTS.map((name) => [name, 0]));
  const skipped: Skipped = { count: 0 };
  const progress = new Progress(context, 'import');
  try {
    for await (const record of importedRecords(context, counts, skipped)) {
      await output.write(record);
      if (record.type !== 'trajectory') continue;
      const trajectory = record as Trajectory;
      counts.trajectories! += 1;
      if (isSuccess(trajectory)) counts.successes! += 1;
      await kept?.add(trajectory);
      progress.update(() => `${counts.trajectories} trajectories, ${counts.steps} steps`);
    }
    await kept?.flush();
  } finally {
    progress.stop();
  }
  const from = String(context.options.from);
  const stored = kept ? { stored: kept.stored, pooled: kept.pooled } : {};
  const numbers = { ...counts, skipped_files: skipped.count, ...stored };
  await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-curate import', from, ...numbers });
  await output.close();
  progress.done(`${counts.trajectories} trajectories, ${counts.successes} successes, ${counts.steps} steps`);
  tellWhatIsMissing(context, counts);
  if (context.options.table === true) await printTable(context.io, ['what', 'number'], Object.entries(numbers));
  if (skipped.count > 0) return EXIT.failure;
  return counts.trajectories! > 0 ? EXIT.ok : EXIT.negative;
}

function tellWhatIsMissing(context: CommandContext, counts: Readonly<Record<string, number>>): void {
  const log = logOf(context);
  const warn = (name: string, text: string) => {
    if (counts[name]! > 0) log.warn(`${counts[name]} ${text}`);
  };
  warn('without_reward', 'trajectories have no reward and cannot be learned from. Try: --reward R');
  warn('without_instruction', 'trajectories have no instruction. Try: --task-dir DIR');
  warn(
    'steps_left_out',
    `steps of ${counts.incomplete! + counts.empty_episodes!} episodes have no screenshot and were left out; their replies stay in the history of later steps (screenshot_missing events say why). Try: --require-screens leaves such episodes out`,
  );
  warn('incomplete_left_out', 'episodes lack screenshots and were left out as --require-screens asks');
  warn('parse_errors', 'replies could not be read as actions (parse_error in the step says why)');
  warn('empty_episodes', 'episodes had nothing to learn from and were left out (episode_left_out events say why)');
  warn('lines_cut_short', 'files end in a line that is cut short; it was left out');
  warn(
    'token_files_unread',
    'files data_for_step_*.pt hold token ids and log-probabilities that only PyTorch can read; the trainer spells the replies itself and takes them with w = 1',
  );
}

function tellPlan(context: CommandContext): number {
  const { options, positionals } = context;
  const keep = options.store === undefined ? '' : `, stored in ${withoutPassword(String(options.store))}`;
  const where = `screenshots to ${blobsFolder(context)}${keep}`;
  logOf(context).info(`would import ${options.from} from ${positionals.join(', ')}: ${where}`);
  return EXIT.ok;
}
