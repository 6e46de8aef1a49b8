import { posix } from 'node:path';
import { isDatabase, openDatabase } from '../../browser/database.ts';
import { jsonList, profileFile, profilePath } from '../../browser/profile.ts';
import { Fields } from '../../fields.ts';
import type { StepRunner } from '../../kinds.ts';
import { HISTORY_SCHEMA } from './history_schema.ts';

const FILE = 'Default/History';
/** Chrome counts microseconds from 1601-01-01. */
const EPOCH_MS = Date.UTC(1601, 0, 1);
/** A link that started a chain of redirections and ended it: what a page that was simply visited has. */
const TRANSITION = 805_306_368;

interface Visit {
  url: string;
  title: string;
  /** Microseconds since 1601. */
  time: bigint;
}

/**
 * `{history: [{url, title, visit_time_from_now_in_seconds}]}`: makes these the pages that the browser has visited, and
 * no others. The database is the desktop's own with its rows replaced, or a new one where the browser has not run yet;
 * a browser that runs does not notice. The embedded browser's list is written as it keeps it.
 */
export const updateHistory: StepRunner = async (parameters, context) => {
  const { guest } = context;
  const visits = parameters.list('history').map((entry, index) => {
    const fields = new Fields(`${parameters.owner}.history[${index}]`, parameters.where, entry);
    const ago = fields.number('visit_time_from_now_in_seconds');
    const time = BigInt(Math.round((Date.now() - EPOCH_MS - ago * 1000) * 1000));
    return { url: fields.text('url'), title: fields.text('title'), time };
  });
  const file = await profileFile(FILE, context);
  const path = file?.path ?? (await profilePath(FILE, context));
  const list = file === null ? null : jsonList(file.bytes);
  if (list !== null) {
    const pages = visits.map(({ url, title }) => ({ url, title }));
    await guest.writeFile(path, Buffer.from(JSON.stringify(pages)));
    return;
  }
  if (file === null) await guest.execute(['mkdir', '-p', posix.dirname(path)]);
  await guest.writeFile(path, await historyWith(visits, file?.bytes));
  // A server that runs as root writes files that the user's browser could not open.
  await guest.execute(['chown', `--reference=${posix.dirname(path)}`, path]);
};

/** A history with these visits and no others; `before` keeps its schema, whichever browser made it. */
async function historyWith(visits: Visit[], before?: Uint8Array): Promise<Uint8Array> {
  const isKept = before !== undefined && isDatabase(before);
  const database = await openDatabase(isKept ? before : undefined);
  try {
    if (isKept) database.exec('DELETE FROM visits; DELETE FROM urls;');
    else database.exec(HISTORY_SCHEMA);
    const url = database.prepare(
      'INSERT INTO urls (url, title, visit_count, typed_count, last_visit_time, hidden) VALUES (?, ?, 1, 0, ?, 0)',
    );
    const visit = database.prepare(
      'INSERT INTO visits (url, visit_time, from_visit, transition, segment_id, visit_duration) VALUES (?, ?, 0, ?, 0, 0)',
    );
    for (const each of visits) {
      const { lastInsertRowid } = url.run(each.url, each.title, each.time);
      visit.run(lastInsertRowid, each.time, TRANSITION);
    }
    return database.serialize();
  } finally {
    database.close();
  }
}
