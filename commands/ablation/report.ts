import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../lib/cli/paths.ts';
import { DartError } from '../../lib/errors.ts';
import type { PairedMean } from '../../lib/report/paired.ts';
import { percent, signed } from '../../lib/report/tables.ts';
import { makeFolderSync, writeWhole } from '../../lib/stream/files.ts';

/** A table: its head and its rows; null is shown as a dash. */
export interface Table {
  head: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

/** A table in Markdown. */
export function markdownTable({ head, rows }: Table): string {
  const line = (cells: readonly (string | number | null)[]) =>
    `| ${cells.map((cell) => String(cell ?? '–').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A difference of shares, `+4.2 pt (+1.0 pt … +7.4 pt)`; the interval is left out where there is one pair. */
export function gain(difference: PairedMean | null): string | null {
  return withInterval(difference, signed);
}

/** The same of a figure that is no share: `+0.04 (+0.01 … +0.07)`. */
export function change(difference: PairedMean | null, digits = 2): string | null {
  return withInterval(difference, (x) => `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(digits)}`);
}

function withInterval(difference: PairedMean | null, spell: (value: number) => string): string | null {
  if (difference === null) return null;
  const { value, low, high } = difference;
  return low === null || high === null ? spell(value) : `${spell(value)} (${spell(low)} … ${spell(high)})`;
}

/** A share in percent, or null. */
export function share(value: number | null | undefined, digits = 1): string | null {
  return value == null ? null : percent(value, digits);
}

/** A number with so many digits, or null. */
export function fixed(value: number | null | undefined, digits = 1): string | null {
  return value == null ? null : value.toFixed(digits);
}

/** `1 run`, `2 runs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Marks an arm of which a run has not learned. */
export const IDLE = '†';

/** One part of docs/results.md, with its pictures. */
export interface Section {
  /** `ablation`: the marks around it are `<!-- ablation -->` and `<!-- /ablation -->`. */
  name: string;
  /** Markdown without a heading. */
  text: string;
  /** SVG by file name. */
  pictures: Readonly<Record<string, string>>;
}

/**
 * Writes a section into a folder of runs; with `publish` also into docs/results.md, and its pictures into docs/results/.
 */
export async function writeSection(dir: string, section: Section, publish: boolean): Promise<void> {
  makeFolderSync(dir);
  await writeWhole(join(dir, `${section.name}.md`), `${section.text}\n`);
  for (const [name, svg] of Object.entries(section.pictures)) await writeWhole(join(dir, name), svg);
  if (!publish) return;
  const page = join(packageRoot(), 'docs/results.md');
  await writeWhole(page, withSection(readFileSync(page, 'utf8'), section));
  const pictures = join(packageRoot(), 'docs/results');
  makeFolderSync(pictures);
  for (const [name, svg] of Object.entries(section.pictures)) await writeWhole(join(pictures, name), svg);
}

/** The page with the text between the marks of the section replaced. */
export function withSection(page: string, { name, text }: Pick<Section, 'name' | 'text'>): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from) {
    throw new DartError(`the marks ${open} and ${close} are not there`, { where: 'docs/results.md' });
  }
  return `${page.slice(0, from + open.length)}\n\n${text.trim()}\n\n${page.slice(to)}`;
}
