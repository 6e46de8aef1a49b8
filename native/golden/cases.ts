import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DartError, messageOf } from '../../lib/errors.ts';
import type { Device } from '../device.ts';
import type { Difference } from './compare.ts';
import { checkAdamwCase, checkPreferenceCase, checkSelectionCase } from './others.ts';
import { checkPolicyCase } from './policy.ts';

export interface GoldenCase {
  file: string;
  name: string;
  run(device: Device): Record<string, Difference>;
}

function readJson(path: string): { cases?: never[] } {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DartError(`Golden numbers cannot be read (${messageOf(error)})`, {
      where: path,
      hint: 'make golden GOLDEN=DIR, the folder that holds policy_loss.json and its siblings',
    });
  }
}

function casesOf<T>(
  folder: string,
  file: string,
  name: (c: T, i: number) => string,
  check: (c: T, device: Device) => Record<string, Difference>,
): GoldenCase[] {
  if (!existsSync(join(folder, file))) return [];
  const json = readJson(join(folder, file));
  const cases = (json.cases ?? [json]) as T[];
  return cases.map((c, i) => ({ file, name: name(c, i), run: (device) => check(c, device) }));
}

const FILES = ['policy_loss.json', 'step_selection.json', 'adamw.json', 'preference_loss.json'];

/** Which files of the format a folder does not have. */
export function missingFiles(folder: string): string[] {
  return FILES.filter((file) => !existsSync(join(folder, file)));
}

/**
 * Every case of the golden files that a kernel answers for (advantages are curation's). A folder may lack some of the
 * files; one without any is a DartError.
 */
export function goldenCases(folder: string): GoldenCase[] {
  const cases = [
    ...casesOf(folder, 'policy_loss.json', (c: { name: string }) => c.name, checkPolicyCase as never),
    ...casesOf(
      folder,
      'step_selection.json',
      (c: { keep_fraction: number }, i) => `${i}: keep ${c.keep_fraction}`,
      checkSelectionCase as never,
    ),
    ...casesOf(folder, 'adamw.json', () => 'five clipped steps', checkAdamwCase as never),
    ...casesOf(
      folder,
      'preference_loss.json',
      (c: { objective: string; beta: number }) => `${c.objective} beta ${c.beta}`,
      checkPreferenceCase as never,
    ),
  ];
  if (cases.length > 0) return cases;
  throw new DartError('There are no golden numbers', {
    where: folder,
    hint: 'make golden GOLDEN=DIR, the folder that holds policy_loss.json and its siblings',
  });
}
