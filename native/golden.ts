/**
 * `make golden [GOLDEN=DIR]`: holds the kernels to the reference numbers, on the CPU and on a GPU where there is one.
 * `metric` records on stdout (share of tolerance, a miss above 1), a table on stderr, exit code 1 on a miss.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../lib/errors.ts';
import { packageRoot } from './addon.ts';
import { type Device, deviceStatus } from './device.ts';
import { goldenCases } from './golden/cases.ts';
import { worst } from './golden/compare.ts';

interface Row {
  device: Device;
  file: string;
  name: string;
  output: string;
  max: number;
  share: number;
}

/** The worst output of each case; its name says which. */
function runCases(folder: string, devices: readonly Device[]): Row[] {
  return devices.flatMap((device) =>
    goldenCases(folder).map(({ file, name, run }) => {
      const outputs = Object.entries(run(device));
      const { max, share } = worst(outputs.map(([, difference]) => difference));
      const output = outputs.find(([, difference]) => difference.share === share)?.[0] ?? '';
      return { device, file, name, output, max, share };
    }),
  );
}

function table(rows: readonly Row[]): string {
  const head = ['', 'device', 'case', 'worst output', 'max diff', '% of tolerance'];
  const body = rows.map((row) => [
    row.share <= 1 ? 'OK' : 'NOT OK',
    row.device,
    `${row.file.replace('.json', '')}: ${row.name}`,
    row.output,
    row.max.toExponential(1),
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
  const name = `golden/${row.device}/${row.file.replace('.json', '')}/${row.name}`;
  const value = Number.isFinite(row.share) ? row.share : null;
  return JSON.stringify({ type: 'metric', v: 1, name, value, unit: 'of tolerance' });
}

function main(argument: string | undefined): number {
  const shared = process.env.DART_SHARED ?? join(packageRoot(fileURLToPath(import.meta.url)), '..', 'shared');
  const folder = argument ?? join(shared, 'golden');
  if (argument === undefined && !existsSync(folder)) {
    process.stderr.write(`golden: no reference numbers at ${folder}. Try: make golden GOLDEN=DIR\n`);
    return 2;
  }
  const status = deviceStatus();
  process.stderr.write(`golden: ${status.text}\n`);
  const rows = runCases(folder, status.device === 'cuda' ? ['cpu', 'cuda'] : ['cpu']);
  const missed = rows.filter((row) => !(row.share <= 1)).length;
  process.stdout.write(`${rows.map(metric).join('\n')}\n`);
  process.stderr.write(`${table(rows)}\n${rows.length - missed} OK, ${missed} NOT OK\n`);
  return missed === 0 ? 0 : 1;
}

try {
  process.exitCode = main(process.argv[2] || undefined);
} catch (error) {
  process.stderr.write(`golden: ${messageOf(error)}\n`);
  process.exitCode = 2;
}
