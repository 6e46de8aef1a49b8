import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync, zipSync } from 'fflate';
import type { FetchedFile, Fidelity } from '../../context.ts';
import { Fields } from '../../fields.ts';
import { slideMetrics } from './index.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/documents/slides');

/** A document of fixtures/documents/slides; each edit puts a new text in the place of the first old one in a part. */
export interface Changed {
  file: string;
  edits?: [part: string, old: string, replacement: string][];
}

/** A row of golden.json. */
export interface Row {
  metric: string;
  result: Changed;
  expected: unknown;
  options: Record<string, unknown>;
  score: number | 'raises';
}

/** What OSWorld's Python gave for pairs of documents. */
export function goldenRows(): Row[] {
  return JSON.parse(readFileSync(join(FOLDER, 'golden.json'), 'utf8')).rows;
}

/** The document, changed. Throws an Error where an edit finds nothing to change. */
export function documentOf({ file, edits = [] }: Changed): FetchedFile {
  const bytes = readFileSync(join(FOLDER, file));
  if (edits.length === 0) return { name: file, bytes };
  if (edits[0]![0] === '') return { name: file, bytes: replaceAll(bytes, edits) };
  const parts = unzipSync(bytes);
  for (const edit of edits) parts[edit[0]] = new Uint8Array(replaceAll(Buffer.from(parts[edit[0]] ?? ''), [edit]));
  return { name: file, bytes: zipSync(parts, { level: 0 }) };
}

/** The score of a metric for a row's documents or rules. */
export async function scoreOf(row: Omit<Row, 'score'>, fidelity?: Fidelity): Promise<number> {
  const { metric: name, options } = row;
  return slideMetrics[name]!({
    result: documentOf(row.result),
    expected: isChanged(row.expected) ? documentOf(row.expected) : row.expected,
    options: new Fields(`options of ${name}`, 't1', options),
    name,
    where: 't1',
    fidelity,
  });
}

/** True for a document, false for rules. */
export function isChanged(value: unknown): value is Changed {
  return typeof value === 'object' && value !== null && 'file' in value;
}

function replaceAll(bytes: Buffer, edits: [string, string, string][]): Buffer {
  let text = bytes;
  for (const [, old, replacement] of edits) {
    const at = text.indexOf(old);
    if (at < 0) throw new Error(`no ${old} to replace`);
    const rest = text.subarray(at + Buffer.byteLength(old));
    text = Buffer.concat([text.subarray(0, at), Buffer.from(replacement), rest]);
  }
  return text;
}
