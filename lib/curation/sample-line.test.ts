import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { trajectory } from '../store/trajectories.testing.ts';
import { recordLine } from '../stream/finite.ts';
import type { AnyRecord, Trajectory } from '../stream/records.ts';
import { RecordWriter } from '../stream/writer.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { keepLine } from './raw.ts';
import { RecordBatch } from './record-batch.ts';
import { makeSamples } from './sample.ts';
import { appendSample } from './sample-line.ts';
import type { Scored } from './success.ts';

/** A trajectory as it comes from a line of text. */
function read(text: string): Scored {
  const one = JSON.parse(text) as Scored;
  keepLine(one, Buffer.from(text));
  return one;
}

function samplesOf(one: Scored) {
  return makeSamples({ group_id: 'g', run_id: 'r', members: [{ trajectory: one, injected: false }], advantages: [0.5] })
    .samples;
}

function lineOf(sample: AnyRecord): string | null {
  const bytes = new ByteBuffer(8);
  return appendSample(sample, bytes) ? bytes.take().toString() : null;
}

const long: Trajectory = { ...trajectory({ id: 'lång', reward: 1, steps: 40, reply: 'Klick “Öffnen”\n' }), extra: [1] };
long.steps[3]!.prompt.screenshots = 3;

describe('appendSample', () => {
  it('spells the same line as the record does, history and pictures included', () => {
    const samples = samplesOf(read(JSON.stringify(long)));
    expect(samples).toHaveLength(40);
    for (const sample of samples) expect(lineOf(sample)).toBe(`${recordLine(sample)}\n`);
    expect(samples[39]!.history).toHaveLength(35);
    expect(samples[3]!.screenshots).toHaveLength(2);
  });

  it('keeps the spelling of the step', () => {
    const text = JSON.stringify(trajectory({ id: 'a', reward: 1, steps: 1 })).replace('-0.25', '-2.50e-1');
    const line = lineOf(samplesOf(read(text))[0]!)!;
    expect(line).toContain('"logprobs":[-2.50e-1,-0.5]');
    expect(JSON.parse(line)).toEqual(samplesOf(read(text))[0]);
  });

  it('cannot for steps that were put right, nor for trajectories without a line', () => {
    const text = JSON.stringify(trajectory({ id: 'a', reward: 1, steps: 1 })).replace('-0.25', '-9999');
    expect(lineOf(samplesOf(read(text))[0]!)).toBeNull();
    expect(lineOf(samplesOf(trajectory({ id: 'a', reward: 1 }) as Scored)[0]!)).toBeNull();
    expect(lineOf({ type: 'event' })).toBeNull();
  });
});

describe('RecordBatch', () => {
  it('writes everything in order, samples together', async () => {
    const chunks: string[] = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        chunks.push(String(chunk));
        done();
      },
    });
    const writer = new RecordWriter(stream);
    const batch = new RecordBatch(writer);
    const [a, b] = samplesOf(read(JSON.stringify(trajectory({ id: 'a', reward: 1 }))));
    await batch.write(a!);
    await batch.write(b!);
    expect(chunks).toEqual([]);
    await batch.write({ type: 'event' });
    await batch.write(a!);
    await batch.flush();
    await batch.flush();
    const [one, two] = [a!, b!].map((sample) => `${recordLine(sample)}\n`);
    expect(chunks).toEqual([one! + two!, '{"type":"event"}\n', one]);
    expect(writer.count).toBe(4);
  });
});
