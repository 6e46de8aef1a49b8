import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { type BenchMetric, medianSeconds } from './bench.ts';
import { readRecords } from './reader.ts';
import type { AnyRecord } from './records.ts';
import { RecordWriter } from './writer.ts';

const CHUNK = 1 << 16;

/** NDJSON of about `megabytes` in chunks as a pipe delivers them, and how many bytes that is. */
function chunksOf(record: AnyRecord, megabytes: number): { chunks: Buffer[]; bytes: number } {
  const line = `${JSON.stringify(record)}\n`;
  const whole = Buffer.from(line.repeat(Math.max(4, Math.round((megabytes * 1e6) / line.length))));
  const chunks: Buffer[] = [];
  for (let at = 0; at < whole.length; at += CHUNK) chunks.push(whole.subarray(at, at + CHUNK));
  return { chunks, bytes: whole.length };
}

async function readAll(chunks: Buffer[]): Promise<void> {
  for await (const { record } of readRecords(Readable.from(chunks), { name: 'bench' })) void record;
}

/** The same with Node's own line splitter, which knows nothing of errors or limits. */
async function readlineAll(chunks: Buffer[]): Promise<void> {
  for await (const line of createInterface({ input: Readable.from(chunks), crlfDelay: Number.POSITIVE_INFINITY }))
    JSON.parse(line);
}

const step = (text: string): AnyRecord => ({
  type: 'trajectory',
  v: 1,
  steps: Array.from({ length: 6 }, (_, index) => ({ index, response: { text, logprobs: [-0.25, -1.5] } })),
});

/** Reading against node:readline, short lines (a trajectory) and long ones (4 MB); writing. */
export async function bench(): Promise<BenchMetric[]> {
  const metrics: BenchMetric[] = [];
  for (const [name, record] of [
    ['trajectory lines', step("Action: click(start_box='(52,36)')")],
    ['4 MB lines', step('x'.repeat(650_000))],
  ] as const) {
    const { chunks, bytes } = chunksOf(record, 40);
    const ours = await medianSeconds(() => readAll(chunks));
    const readline = await medianSeconds(() => readlineAll(chunks));
    const value = bytes / ours / 1e6;
    metrics.push({
      name: `ndjson/read/${name}`,
      value,
      unit: 'MB/s',
      against: 'node:readline',
      ratio: readline / ours,
    });
  }
  metrics.push(await writing());
  return metrics;
}

async function writing(): Promise<BenchMetric> {
  const record = step("Action: click(start_box='(52,36)')");
  const count = 20_000;
  const bytes = count * (JSON.stringify(record).length + 1);
  const writer = new RecordWriter(new Writable({ write: (_chunk, _encoding, done) => done() }));
  const time = await medianSeconds(async () => {
    for (let i = 0; i < count; i++) await writer.write(record);
  });
  return { name: 'ndjson/write/trajectory lines', value: bytes / time / 1e6, unit: 'MB/s' };
}
