import { createWriteStream } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { ReaderGone, RecordWriter } from './writer.ts';

/** A reader that takes one record whenever `take` is called. */
function slowReader() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      waiting.push(done);
    },
  });
  return { stream, taken, take: () => waiting.shift()?.() };
}

function failing(code: string): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error(code), { code }));
    },
  });
}

describe('RecordWriter', () => {
  it('writes a line each, type first, then v', async () => {
    const stream = new PassThrough();
    const writer = new RecordWriter(stream);
    await writer.write({ type: 'event', v: 1, event: 'a' });
    await writer.write({ n: null, v: 1, type: 'event' });
    await writer.flush();
    expect(String(stream.read())).toBe('{"type":"event","v":1,"event":"a"}\n{"type":"event","v":1,"n":null}\n');
    expect(writer.count).toBe(2);
  });

  it('waits for a slow reader', async () => {
    const { stream, taken, take } = slowReader();
    const writer = new RecordWriter(stream);
    let ready = false;
    const writing = writer.write({ type: 'a' }).then(() => {
      ready = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([taken.length, ready]).toEqual([1, false]);
    take();
    await writing;
    expect(ready).toBe(true);
  });

  it('stops waiting when the command is told to stop', async () => {
    const stop = new AbortController();
    const writer = new RecordWriter(slowReader().stream, { signal: stop.signal });
    const writing = writer.write({ type: 'a' });
    stop.abort(new ReaderGone());
    await expect(writing).rejects.toBeInstanceOf(ReaderGone);
  });

  it.each([
    [{ type: 'metric', value: Number.NaN }, 'the metric record has NaN in value'],
    [{ type: 'a', steps: [{ x: 1 }, { logprobs: [0, -1 / 0] }] }, 'the a record has -Infinity in steps[1].logprobs[1]'],
  ])('names the field that holds NaN or an infinity', async (record, message) => {
    const stream = new PassThrough();
    await expect(new RecordWriter(stream).write(record)).rejects.toThrow(message);
    expect(stream.read()).toBe(null);
  });

  it('tells a reader that has gone from a full disk', async () => {
    const gone = new RecordWriter(failing('EPIPE'));
    await gone.write({ type: 'a' }).catch(() => {});
    await expect(gone.flush()).rejects.toBeInstanceOf(ReaderGone);
    await expect(gone.write({ type: 'b' })).rejects.toBeInstanceOf(ReaderGone);
    const full = new RecordWriter(failing('ENOSPC'), { name: 'out' });
    await full.write({ type: 'a' }).catch(() => {});
    const error = await full.flush().catch((thrown: DartError) => thrown);
    expect((error as DartError).describe()).toMatch(/^out: cannot write: the disk is full/);
    expect((error as DartError).exitCode).toBe(2);
  });

  it('reports /dev/full', async () => {
    const writer = new RecordWriter(createWriteStream('/dev/full'));
    await writer.write({ type: 'a' }).catch(() => {});
    await expect(writer.flush()).rejects.toBeInstanceOf(DartError);
  });
});
