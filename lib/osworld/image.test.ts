import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { greyOf, mean, readPng, structuralSimilarity } from './image.ts';

/** A PNG from its raw rows (each with its filter byte), for forms that the encoder does not write. */
function rawPng(width: number, height: number, depth: number, type: number, rows: number[], palette: number[] = []) {
  const chunk = (name: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, type, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', head),
    ...(palette.length > 0 ? [chunk('PLTE', Buffer.from(palette))] : []),
    chunk('IDAT', deflateSync(Buffer.from(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const flat = (value: number) => {
  const data = new Uint8Array(9 * 9 * 3).fill(value);
  return readPng(encode({ width: 9, height: 9, data, channels: 3, depth: 8 }));
};

describe('readPng', () => {
  it('reads RGB', () => {
    const bytes = encode({ width: 2, height: 1, data: new Uint8Array([1, 2, 3, 4, 5, 6]), channels: 3, depth: 8 });
    expect(readPng(bytes)).toEqual({ width: 2, height: 1, rgba: new Uint8Array([1, 2, 3, 255, 4, 5, 6, 255]) });
  });

  it('reads palettes of 8 bits', () => {
    const bytes = rawPng(2, 1, 8, 3, [0, 1, 0], [9, 8, 7, 1, 2, 3]);
    expect([...readPng(bytes).rgba]).toEqual([1, 2, 3, 255, 9, 8, 7, 255]);
  });

  it('reads palettes of fewer bits, each row from a whole byte', () => {
    const bytes = rawPng(3, 2, 2, 3, [0, 0b00_01_10_00, 0, 0b10_01_00_00], [1, 1, 1, 2, 2, 2, 3, 3, 3]);
    const reds = [...readPng(bytes).rgba].filter((_, index) => index % 4 === 0);
    expect(reds).toEqual([1, 2, 3, 3, 2, 1]);
  });

  it('reads grey of one bit', () => {
    expect([...readPng(rawPng(2, 1, 1, 0, [0, 0b01_000000])).rgba]).toEqual([0, 0, 0, 255, 255, 255, 255, 255]);
  });

  it('reads grey with alpha', () => {
    expect([...readPng(rawPng(1, 2, 8, 4, [0, 50, 0, 0, 60, 128])).rgba]).toEqual([50, 50, 50, 0, 60, 60, 60, 128]);
  });
});

it('grey levels are those of PIL', () => {
  const picture = { width: 3, height: 1, rgba: new Uint8Array([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255]) };
  expect([...greyOf(picture)]).toEqual([76, 150, 29]);
  expect(mean(greyOf(picture))).toBe(85);
});

it('structural similarity of flat pictures is the luminance term', () => {
  const c1 = (0.01 * 255) ** 2;
  expect(structuralSimilarity(flat(100), flat(100))).toBe(1);
  expect(structuralSimilarity(flat(100), flat(120))).toBeCloseTo((24000 + c1) / (24400 + c1), 12);
});
