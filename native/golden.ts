/**
 * `make golden [GOLDEN=DIR]`: holds the kernels to the reference numbers: the CPU's scalar and vector code, emulated CUDA,
 * and a GPU where there is one. `metric` records on stdout (share of tolerance, a miss above 1), a table on stderr. Exit
 * code 1: a miss; 2: nothing was compared, or a case does not have the format. A file that the folder lacks is named on
 * stderr and is no error while another has cases.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DartError, messageOf } from '../lib/errors.ts';
import { packageRoot } from './addon.ts';
import { deviceStatus } from './device.ts';
import { goldenCases, missingFiles } from './golden/cases.ts';
import { cpuImplementations, cudaImplementations, type Row, runCases } from './golden/implementations.ts';

const script = fileURLToPath(import.meta.url);
const root = packageRoot(script);

function table(rows: readonly Row[]): string {
  const head = ['', 'implementation', 'case', 'worst output', 'max diff', '% of tolerance'];
  const body = rows.map((row) => [
    row.share <= 1 ? 'OK' : 'NOT OK',
    row.implementation,
    `${row.file.replace('.json', '')}: ${row.name}`,
    row.output,
    Number.isFinite(row.max) ? row.max.toExponential(1) : '-',
    Number.isFinite(row.share) ? (100 * row.share).toFixed(1) : 'no number',
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i]!.length)));
  return [head, ...body]
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function metric(row: Row): string {
  const name = `golden/${row.implementation}/${row.file.replace('.json', '')}/${row.name}`;
  const value = Number.isFinite(row.share) ? row.share : null;
  return JSON.stringify({ type: 'metric', v: 1, name, value, unit: 'of tolerance' });
}

/** JSON has no Infinity, and a miss may be infinite. */
const LOST = 'no number';
const pack = (rows: readonly Row[]) =>
  JSON.stringify(rows, (_, value) => (typeof value === 'number' && !Number.isFinite(value) ? LOST : value));
const unpack = (text: string): Row[] => JSON.parse(text, (_, value) => (value === LOST ? Infinity : value));

/** A process opens one CUDA library only, so the emulated one has a process of its own. */
function emulated(folder: string): Row[] {
  const library = join(root, 'native', 'build', 'libdart_cuda_emulated.so');
  if (!existsSync(library)) {
    process.stderr.write(`golden: emulated CUDA is left out: there is no ${library}. Try: make golden\n`);
    return [];
  }
  const child = spawnSync(process.execPath, [script, folder, '--cuda-only'], {
    encoding: 'utf8',
    env: { ...process.env, DART_CUDA_LIBRARY: library },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
  if (child.status === 0) return unpack(child.stdout);
  throw new DartError('the kernels on emulated CUDA ended early', { where: library, hint: 'make clean golden' });
}

/** The folder to read: the argument, else `shared/golden` beside the checkout. */
function folderOf(argument: string | undefined): string | null {
  if (argument) return argument;
  const folder = join(process.env.DART_SHARED ?? join(root, '..', 'shared'), 'golden');
  return existsSync(folder) ? folder : null;
}

function main(argument: string | undefined, cudaOnly: boolean): number {
  const folder = folderOf(argument);
  if (folder === null) {
    process.stderr.write('golden: no reference numbers beside this checkout. Try: make golden GOLDEN=DIR\n');
    return 2;
  }
  const cases = goldenCases(folder);
  if (cudaOnly) {
    process.stdout.write(pack(runCases(cases, cudaImplementations())));
    return 0;
  }
  for (const file of missingFiles(folder)) process.stderr.write(`golden: there is no ${file} in ${folder}\n`);
  process.stderr.write(`golden: ${deviceStatus().text}\n`);
  const rows = runCases(cases, [...cpuImplementations(), ...cudaImplementations()]);
  if (!rows.some((row) => row.implementation === 'CUDA, emulated')) rows.push(...emulated(folder));
  const missed = rows.filter((row) => !(row.share <= 1)).length;
  process.stdout.write(`${rows.map(metric).join('\n')}\n`);
  process.stderr.write(`${table(rows)}\n${rows.length - missed} OK, ${missed} NOT OK\n`);
  return missed === 0 ? 0 : 1;
}

try {
  const { values, positionals } = parseArgs({ options: { 'cuda-only': { type: 'boolean' } }, allowPositionals: true });
  if (positionals.length > 1)
    throw new DartError(`one folder at a time, not ${positionals.length}`, {
      hint: 'quotes around a name with spaces',
    });
  process.exitCode = main(positionals[0], values['cuda-only'] ?? false);
} catch (error) {
  process.stderr.write(`golden: ${messageOf(error)}\n`);
  process.exitCode = 2;
}
