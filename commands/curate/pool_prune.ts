import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { type ExperienceEntry, experienceEntries, removeExperience } from '../../lib/store/experience_entries.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { storeToRead } from './store.ts';

const UNITS = { m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** `dart-curate pool prune`: takes old and surplus successes out of the pool. */
export async function prune(context: CommandContext): Promise<number> {
  const { options } = context;
  const task = options.task as string | undefined;
  const keep = options.keep as number | undefined;
  const olderThan = options['older-than'] as string | undefined;
  if (keep === undefined && olderThan === undefined && task === undefined) {
    throw new DartError('nothing says what is to go', { hint: '--older-than 30d, --keep 4 or --task ID' });
  }
  const before = olderThan === undefined ? null : Date.now() - milliseconds(olderThan);
  const dry = options['dry-run'] === true;
  const store = await storeToRead(context);
  try {
    const entries = await experienceEntries(store, task);
    const going = choose(entries, { before, keep: keep ?? null });
    const output = await openOutput(context);
    for (const { entry, reason } of going) await output.write(eventOf(entry, reason, dry));
    const removed = dry
      ? 0
      : await removeExperience(
          store,
          going.map(({ entry }) => entry.experience_seq),
        );
    const numbers = { entries: entries.length, chosen: going.length, removed };
    await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-curate pool prune', ...numbers });
    await output.close();
    if (options.table === true) {
      const rows = going.map(({ entry, reason }) => [entry.task_id, entry.trajectory_id, timeOf(entry), reason]);
      await printTable(context.io, ['task', 'trajectory', 'added', 'reason'], rows);
    }
    const what = dry ? `would take out ${going.length}` : `took out ${removed}`;
    logOf(context).info(`${what} of ${entries.length} successes${task === undefined ? '' : ` of task ${task}`}`);
    return going.length > 0 ? EXIT.ok : EXIT.negative;
  } finally {
    await store.close();
  }
}

type Reason = 'older_than' | 'surplus' | 'task';

/** Without a limit every entry that was looked at goes: those of the named task. */
export function choose(
  entries: readonly ExperienceEntry[],
  { before, keep }: { before: number | null; keep: number | null },
): { entry: ExperienceEntry; reason: Reason }[] {
  const newer = new Map<string, number>();
  const chosen: { entry: ExperienceEntry; reason: Reason }[] = [];
  for (const entry of [...entries].reverse()) {
    const rank = newer.get(entry.task_id) ?? 0;
    if (before === null && keep === null) chosen.push({ entry, reason: 'task' });
    else if (before !== null && entry.added_at < before) chosen.push({ entry, reason: 'older_than' });
    else if (keep !== null && rank >= keep) chosen.push({ entry, reason: 'surplus' });
    else newer.set(entry.task_id, rank + 1);
  }
  return chosen.reverse();
}

/** `30d`, `12h`, `90m`, `2w`. */
export function milliseconds(duration: string): number {
  const found = /^(\d+(?:\.\d+)?)([mhdw])$/.exec(duration.trim());
  if (found) return Number(found[1]) * UNITS[found[2] as keyof typeof UNITS] * 1000;
  throw new DartError(`'${duration}' is not a duration`, { where: '--older-than', hint: '30d, 12h, 90m or 2w' });
}

function timeOf(entry: ExperienceEntry): string {
  return new Date(entry.added_at).toISOString();
}

function eventOf(entry: ExperienceEntry, reason: Reason, dry: boolean) {
  const { task_id, trajectory_id } = entry;
  const event = dry ? 'experience_would_go' : 'experience_removed';
  return { type: 'event', v: SCHEMA_VERSION, event, reason, task_id, trajectory_id, added_at: timeOf(entry) };
}
