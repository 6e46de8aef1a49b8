import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError, messageOf } from '../../lib/errors.ts';
import type { Device } from '../device.ts';
import { requireAdamwCase, requirePolicyCase, requirePreferenceCase, requireSelectionCase } from './checked.ts';
import type { Difference } from './compare.ts';
import { Fields } from './fields.ts';
import { checkAdamwCase, checkPreferenceCase, checkSelectionCase } from './others.ts';
import { checkPolicyCase } from './policy.ts';

const HINT = 'make golden GOLDEN=DIR, the folder that holds policy_loss.json and its siblings';

export interface GoldenCase {
  file: string;
  name: string;
  run(device: Device): Record<string, Difference>;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DartError(`Golden numbers cannot be read (${messageOf(error)})`, { where: path, hint: HINT });
  }
}

/** One file of the format: what a case of it must hold, what it is called, and how it is compared. */
interface GoldenFile {
  file: string;
  /** The file itself is its only case. */
  single?: boolean;
  name(c: Fields, i: number): string;
  require(c: Fields): void;
  check(c: never, device: Device): Record<string, Difference>;
}

const FILES: readonly GoldenFile[] = [
  {
    file: 'policy_loss.json',
    name: (c) => c.text('name'),
    require: requirePolicyCase,
    check: checkPolicyCase,
  },
  {
    file: 'step_selection.json',
    name: (c, i) => `${i}: keep ${c.get('keep_fraction')}`,
    require: requireSelectionCase,
    check: checkSelectionCase,
  },
  {
    file: 'adamw.json',
    single: true,
    name: (c) => `${c.objects('steps').length} clipped steps`,
    require: requireAdamwCase,
    check: checkAdamwCase,
  },
  {
    file: 'preference_loss.json',
    name: (c) => `${c.get('objective')} beta ${c.get('beta')}`,
    require: requirePreferenceCase,
    check: checkPreferenceCase,
  },
];

function casesOf(folder: string, format: GoldenFile): GoldenCase[] {
  const { file } = format;
  if (!existsSync(join(folder, file))) return [];
  const json = readJson(join(folder, file));
  if (format.single) return [goldenCase(format, json, file, 0)];
  const list = new Fields(json, file).get('cases');
  if (Array.isArray(list) && list.length > 0) return list.map((c, i) => goldenCase(format, c, placeOf(file, c, i), i));
  throw new DartError('there are no cases to compare', { where: file, hint: 'a list "cases" of at least one' });
}

/** File and case, the latter by its number and, where it has one, its name. */
function placeOf(file: string, c: unknown, i: number): string {
  const name = (c as { name?: unknown } | null)?.name;
  return `${file}, case ${i + 1}${typeof name === 'string' ? ` (${name})` : ''}`;
}

function goldenCase({ file, name, require, check }: GoldenFile, json: unknown, where: string, i: number): GoldenCase {
  const fields = new Fields(json, where);
  require(fields);
  const run = (device: Device) => {
    try {
      return check(json as never, device);
    } catch (error) {
      throw new DartError(messageOf(error), { where, cause: error });
    }
  };
  return { file, name: name(fields, i), run };
}

/** Which files of the format a folder does not have. */
export function missingFiles(folder: string): string[] {
  return FILES.map(({ file }) => file).filter((file) => !existsSync(join(folder, file)));
}

/**
 * Every case of the golden files that a kernel answers for (advantage.json is curation's: lib/curation/advantage.test.ts).
 * A folder may lack some of the files. One without any, a file without cases and a case that departs from the format are
 * a DartError that names file and case.
 */
export function goldenCases(folder: string): GoldenCase[] {
  const cases = FILES.flatMap((format) => casesOf(folder, format));
  if (cases.length > 0) return cases;
  throw new DartError('There are no golden numbers', { where: folder, hint: HINT });
}
