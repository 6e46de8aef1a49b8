import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import { type ReadOptions, readBatches, readRecords } from './reader.ts';

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* parts;
}

async function read(parts: (string | Uint8Array)[], options: Partial<ReadOptions> = {}) {
  const records = [];
  for await (const item of readRecords(chunks(...parts), { name: 'in', ...options })) records.push(item);
  return records;
}

async function failure(parts: (string | Uint8Array)[], options: Partial<ReadOptions> = {}): Promise<string> {
  const error = await read(parts, options).catch((thrown: DartError) => thrown);
  return (error as DartError).describe();
}

describe('readRecords', () => {
  it('takes a byte-order mark, CRLF, blank lines and a last line without newline', async () => {
    const records = await read(['\uFEFF{"type":"a"}\r\n', '\r\n   \n{"type":"b"}\r\n\n{"type":"c"}']);
    expect(records).toEqual([
      { line: 1, record: { type: 'a' }, where: 'in:1' },
      { line: 4, record: { type: 'b' }, where: 'in:4' },
      { line: 6, record: { type: 'c' }, where: 'in:6' },
    ]);
  });

  it('puts characters together that were split between chunks', async () => {
    const bytes = Buffer.from('{"type":"ä€😀"}\n{"type":"ß"}\n');
    const single = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
    expect((await read(single)).map((item) => item.record.type)).toEqual(['ä€😀', 'ß']);
  });

  it('reads the same however the bytes are cut into chunks', async () => {
    const text = Buffer.from('{"type":"a","n":[1,2]}\n\r\n{"type":"é"}\r\n{"type":"c"}');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 8 }), async (cuts) => {
        const ends = [...cuts.sort((a, b) => a - b), text.length];
        const parts = ends.map((end, i) => text.subarray(i === 0 ? 0 : ends[i - 1], end));
        expect((await read(parts)).map((item) => [item.line, item.record.type])).toEqual([
          [1, 'a'],
          [3, 'é'],
          [4, 'c'],
        ]);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['{"type":"a"}\n{"type":', 'in:2: the last line is cut short. Try: let its writer end'],
    ['null\n', "in:1: expected a JSON object but received null. Try: jq -c 'values', which drops null lines"],
    ['[1]\n', "in:1: expected a JSON object but received an array. Try: jq -c '.[]', which gives each item a line"],
    ['7\n', "in:1: expected a JSON object but received a number. Try: jq -c 'objects', which keeps records only"],
    ['{"v":1}\n', 'in:1: the record has no "type". Try: a line such as {"type":"task","v":1,…}'],
  ])('names the line of %j', async (text, message) => {
    expect(await failure([text])).toBe(message);
  });

  it('advises --on-error skip to those who have the choice and have not made it', async () => {
    const advice = 'in:1: the last line is cut short. Try: let its writer end';
    expect(await failure(['{'], { onError: 'fail' })).toBe(`${advice}, or --on-error skip`);
    expect(await failure(['{"a{"b":1}\n'], { onError: 'fail' })).toMatch(
      /^in:1: not JSON: .*Try: --on-error skip, which/,
    );
    expect(await failure(['{"a{"b":1}\n'])).not.toContain('Try');
    const skipped: string[] = [];
    await read(['{'], { onError: 'skip', onSkip: (error) => skipped.push(error.describe()) });
    expect(skipped).toEqual([advice]);
  });

  it.each([
    ['gzip', 'zcat', gzipSync('{"type":"a"}\n')],
    ['zstd', 'zstdcat', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x0a])],
    ['xz', 'xzcat', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x0a])],
    ['bzip2', 'bzcat', Buffer.from('BZh91AY&SY')],
  ])('says that its input is compressed (%s), and skips nothing of it', async (kind, unpack, bytes) => {
    const single = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
    expect(await failure([bytes], { onError: 'skip', command: 'dart-eval' })).toBe(
      `in: it is compressed (${kind}). Try: ${unpack} in | dart-eval -`,
    );
    expect(await failure([bytes], { name: 'stdin', command: 'dart-eval score' })).toBe(
      `stdin: it is compressed (${kind}). Try: ${unpack} FILE | dart-eval score …`,
    );
    expect(await failure(single, { name: 'stdin' })).toBe(
      `stdin: it is compressed (${kind}). Try: ${unpack} FILE > UNPACKED`,
    );
  });

  it('advises one record a line where a record is spread over many, and not to leave it all out', async () => {
    const pretty = JSON.stringify({ type: 'a' }, null, 2);
    expect(await failure([`{"type":"b"}\n${pretty}\n`], { onError: 'fail' })).toMatch(
      /^in:2: not JSON: .*Try: jq -c ., which gives each record one line$/,
    );
    expect(await failure([`[\n${pretty}]\n`])).toMatch(/^in:1: not JSON: .*Try: jq -c '\.\[\]', which gives each item/);
  });

  it('says what to write instead of NaN', async () => {
    expect(await failure(['{"type":"a","loss":NaN}\n'])).toMatch(
      /^in:1: not JSON: .*Try: null for a number that is not known$/,
    );
  });

  it('refuses bytes that are not UTF-8', async () => {
    expect(await failure([Buffer.from([0x7b, 0xff, 0x7d, 0x0a])])).toBe(
      'in:1: the line is not UTF-8. Try: iconv -t UTF-8',
    );
  });

  it('skips bad lines on demand, reports each, and keeps counting lines', async () => {
    const skipped: string[] = [];
    const records = await read(['{"type":"a"}\nnull\noops\n{"type":"b"}\n{"ty'], {
      onError: 'skip',
      onSkip: (error) => skipped.push(error.where ?? ''),
    });
    expect(records.map((item) => [item.line, item.record.type])).toEqual([
      [1, 'a'],
      [4, 'b'],
    ]);
    expect(skipped).toEqual(['in:2', 'in:3', 'in:5']);
  });

  it('tells of a bad line only when the records before it have been looked at', async () => {
    const told: string[] = [];
    const input = chunks('{"type":"a"}\n{"type":"b"}\noops\n{"type":"c"}\n{"ty');
    const options = { name: 'in', onSkip: (error: DartError) => told.push(error.where!) };
    for await (const { where } of readRecords(input, { ...options, onError: 'skip' })) told.push(where);
    expect(told).toEqual(['in:1', 'in:2', 'in:3', 'in:4', 'in:5']);
  });

  it('stops a line that is too long, whole or still coming, and reads on after it', async () => {
    const long = `{"type":"${'x'.repeat(100)}"}`;
    expect(await failure([`${long}\n`], { maxLineBytes: 50 })).toMatch(/^in:1: the line is longer than 50 bytes/);
    expect(await failure([long], { maxLineBytes: 50 })).toMatch(/^in:1: the line is longer than 50 bytes/);
    const pieces = [long.slice(0, 30), long.slice(30, 70), `${long.slice(70)}\n{"type":"b"}\n`];
    const records = await read(pieces, { maxLineBytes: 50, onError: 'skip' });
    expect(records).toEqual([{ line: 2, record: { type: 'b' }, where: 'in:2' }]);
  });

  it('hands out what came before a bad line of the same chunk', async () => {
    const types: string[] = [];
    const all = (async () => {
      for await (const batch of readBatches(chunks('{"type":"a"}\n{"type":"b"}\n?\n'), { name: 'in' })) {
        types.push(...batch.map((item) => item.record.type));
      }
    })();
    await expect(all).rejects.toThrow(/not JSON/);
    expect(types).toEqual(['a', 'b']);
  });

  it('says why the input cannot be read', async () => {
    const { createReadStream } = await import('node:fs');
    const reading = read([]).then(async () => {
      for await (const _ of readRecords(createReadStream('.'), { name: '.' }));
    });
    await expect(reading).rejects.toMatchObject({ where: '.', message: 'cannot read: it is a folder, not a file' });
  });
});
