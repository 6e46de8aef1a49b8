import { PassThrough, Readable } from 'node:stream';
import { encode } from 'fast-png';
import { runCommand } from '../../lib/cli/run.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { spec } from './spec.ts';

/** A small grey picture; another shade is another picture. */
export function grey(shade: number, width = 32, height = 24): Buffer {
  return Buffer.from(encode({ width, height, channels: 1, data: new Uint8Array(width * height).fill(shade) }));
}

export const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

export interface CurateRun {
  code: number;
  stdout: string;
  stderr: string;
  records: AnyRecord[];
  summary: AnyRecord;
  /** Records of one type. */
  of: (type: string) => AnyRecord[];
}

/** Runs `dart-curate` in this process. */
export async function curateIn(cwd: string, args: string[], input = ''): Promise<CurateRun> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const texts = { stdout: '', stderr: '' };
  stdout.setEncoding('utf8').on('data', (chunk) => {
    texts.stdout += chunk;
  });
  stderr.setEncoding('utf8').on('data', (chunk) => {
    texts.stderr += chunk;
  });
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
  const env = { HOME: cwd, XDG_CONFIG_HOME: '/nonexistent' };
  const code = await runCommand(spec, args, { stdin, stdout, stderr, cwd, env });
  await new Promise((resolve) => setImmediate(resolve));
  const records = texts.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyRecord);
  const of = (type: string) => records.filter((record) => record.type === type);
  return { code, ...texts, records, summary: records.at(-1)!, of };
}
