import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { DartError } from '../../../lib/errors.ts';
import { loadTasks } from '../../../lib/osworld/load.ts';
import { writeWhole } from '../../../lib/stream/files.ts';
import { readRecords } from '../../../lib/stream/reader.ts';
import type { Task } from '../../../lib/stream/records.ts';
import { SUITES } from '../evaluations.ts';
import type { TaskSet } from '../measure.ts';

/**
 * The task of the self-correction case: Heading is one entry of a menu of formats, a wrong one can be undone or chosen
 * away, as superscript for subscript in the paper's. It was chosen before any training, and is always among the 32.
 */
export const CASE = 'writer-heading-winter';

export interface Split {
  inDomain: Task[];
  outOfDomain: Task[];
}

/**
 * The tasks that are learned from, drawn by their names from the selected ones, and all others of the suite.
 * @throws DartError where fewer were selected than are wanted
 */
export function splitOf(all: readonly Task[], selected: ReadonlySet<string>, count: number, always: string): Split {
  const rank = (id: string) => (id === always ? '' : createHash('sha256').update(id).digest('hex'));
  const candidates = all.filter(({ task_id }) => selected.has(task_id) || task_id === always);
  if (candidates.length < count) {
    throw new DartError(`only ${candidates.length} tasks were selected, of ${count} that are wanted`, {
      where: 'IN_DOMAIN',
      hint: `IN_DOMAIN=${candidates.length}, or a base policy that solves more`,
    });
  }
  const ranked = [...candidates].sort((a, b) => (rank(a.task_id) < rank(b.task_id) ? -1 : 1));
  const chosen = new Set(ranked.slice(0, count).map(({ task_id }) => task_id));
  return {
    inDomain: all.filter(({ task_id }) => chosen.has(task_id)),
    outOfDomain: all.filter(({ task_id }) => !chosen.has(task_id)),
  };
}

/** The files that the runs read their tasks from. */
export interface TaskFiles {
  'in-domain': TaskSet;
  'out-of-domain': TaskSet;
  selected: TaskSet;
  all: TaskSet;
  heldout: TaskSet;
  /** sha256 of the names of the selected tasks and of those that are learned from: runs of others are no pairs of theirs. */
  digest: string;
}

/** Writes the split into `tasks/` of a folder. `selection` is what `dart-curate select-tasks` printed. */
export async function writeTaskFiles(dir: string, selection: string, count: number): Promise<TaskFiles> {
  const all: Task[] = [];
  for await (const task of loadTasks(SUITES.train)) all.push(task);
  const selected = new Set<string>();
  for await (const { record } of readRecords(createReadStream(selection), { name: selection }))
    if (record.type === 'task') selected.add((record as Task).task_id);
  const { inDomain, outOfDomain } = splitOf(all, selected, count, CASE);
  const file = async (name: string, tasks: readonly Task[]): Promise<TaskSet> => {
    const path = pathOf(dir, name);
    await writeWhole(path, tasks.map((task) => `${JSON.stringify(task)}\n`).join(''));
    return { path, count: tasks.length };
  };
  const kept = all.filter(({ task_id }) => selected.has(task_id));
  const names = [kept, inDomain].map((tasks) => tasks.map(({ task_id }) => task_id).join(' '));
  return {
    'in-domain': await file('in-domain', inDomain),
    'out-of-domain': await file('out-of-domain', outOfDomain),
    selected: await file('selected', kept),
    all: { path: SUITES.train, count: all.length },
    heldout: { path: SUITES.heldout, count: all.length },
    digest: createHash('sha256').update(names.join('\n')).digest('hex'),
  };
}

/** The files as they are called where the folder lies elsewhere. */
export function taskFilesIn(dir: string, files: TaskFiles): TaskFiles {
  const moved = (name: 'in-domain' | 'out-of-domain' | 'selected') => ({ ...files[name], path: pathOf(dir, name) });
  return {
    ...files,
    'in-domain': moved('in-domain'),
    'out-of-domain': moved('out-of-domain'),
    selected: moved('selected'),
  };
}

const pathOf = (dir: string, name: string) => join(dir, 'tasks', `${name}.ndjson`);
