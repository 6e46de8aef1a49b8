import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fidelity } from '../context.ts';
import { Fields } from '../fields.ts';
import { METRICS } from './index.ts';

/** What OSWorld's Python said of a pair of documents: its score, or the error that it broke with. */
export interface GoldenRow {
  name: string;
  result: unknown;
  expected: unknown;
  options: object;
  score: number | { raises: string };
  /** The row as it stands, for titles. */
  text: string;
}

/** The rows of `fixtures/documents/<area>/golden.json`, with its documents read. */
export function goldenRows(area: string): GoldenRow[] {
  const folder = join(import.meta.dirname, '../../../fixtures/documents', area);
  const { rows } = JSON.parse(readFileSync(join(folder, 'golden.json'), 'utf8'));
  return rows.map(([name, result, expected, options, score]: [string, unknown, unknown, object, number]) => ({
    ...{ name, options, score },
    result: withFiles(result, folder),
    expected: withFiles(expected, folder) ?? undefined,
    text: JSON.stringify([name, result, expected, options]),
  }));
}

function withFiles(value: unknown, folder: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withFiles(item, folder));
  if (typeof value !== 'object' || value === null || !('file' in value) || Object.keys(value).length > 1) return value;
  const name = String(value.file);
  return { name, bytes: new Uint8Array(readFileSync(join(folder, name))) };
}

/** What our metric says of a row. */
export async function ourScore(row: GoldenRow, fidelity: Fidelity = 'verified'): Promise<number> {
  const { name, result, expected } = row;
  const metric = METRICS.get(name);
  if (metric === undefined) throw new Error(`no metric ${name}`);
  return metric({ result, expected, options: new Fields('options', 't1', row.options), name, where: 't1', fidelity });
}
