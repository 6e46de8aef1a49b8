import { crc32, deflateSync } from 'node:zlib';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { toGrey, toHsv, toRgba } from './convert.ts';
import { blank, type Image } from './image.ts';
import { readImage } from './read.ts';
import { resize } from './resize.ts';
import { hashDistance, perceptualHash, ssim } from './similarity.ts';

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

const flat = (value: number): Image => {
  const image = blank(9, 9, 'RGB');
  image.data.fill(value);
  return image;
};
const grey = (width: number, height: number, ...data: number[]): Image => ({
  ...blank(width, height, 'L'),
  data: Uint8Array.from(data),
});
const rgba = async (bytes: Uint8Array) => [...toRgba(await readImage(bytes)).data];

describe('readImage', () => {
  it('reads RGB', async () => {
    const bytes = encode({ width: 2, height: 1, data: new Uint8Array([1, 2, 3, 4, 5, 6]), channels: 3, depth: 8 });
    expect(await readImage(bytes)).toMatchObject({ width: 2, height: 1, mode: 'RGB', hasTransparency: false });
    expect(await rgba(bytes)).toEqual([1, 2, 3, 255, 4, 5, 6, 255]);
  });

  it('reads palettes of 8 bits', async () => {
    const bytes = rawPng(2, 1, 8, 3, [0, 1, 0], [9, 8, 7, 1, 2, 3]);
    expect((await readImage(bytes)).mode).toBe('P');
    expect(await rgba(bytes)).toEqual([1, 2, 3, 255, 9, 8, 7, 255]);
  });

  it('reads palettes of fewer bits, each row from a whole byte', async () => {
    const bytes = rawPng(3, 2, 2, 3, [0, 0b00_01_10_00, 0, 0b10_01_00_00], [1, 1, 1, 2, 2, 2, 3, 3, 3]);
    expect((await rgba(bytes)).filter((_, index) => index % 4 === 0)).toEqual([1, 2, 3, 3, 2, 1]);
  });

  it('reads grey of one bit', async () => {
    const bytes = rawPng(2, 1, 1, 0, [0, 0b01_000000]);
    expect(await readImage(bytes)).toMatchObject({ mode: '1', data: Uint8Array.from([0, 255]) });
  });

  it('reads grey with alpha', async () => {
    const bytes = rawPng(1, 2, 8, 4, [0, 50, 0, 0, 60, 128]);
    expect(await readImage(bytes)).toMatchObject({ mode: 'LA', data: Uint8Array.from([50, 0, 60, 128]) });
  });

  it('refuses what is no picture, and a PNG that says it is huge', async () => {
    await expect(readImage(Buffer.from('gimp xcf file'))).rejects.toThrow();
    await expect(readImage(Buffer.from('BM'))).rejects.toThrow();
    await expect(readImage(rawPng(60_000, 60_000, 8, 2, [0]))).rejects.toThrow('too large');
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"></svg>';
    await expect(readImage(Buffer.from(svg))).rejects.toThrow('svg');
  });
});

it('grey levels and HSV are those of Pillow', () => {
  const image: Image = { ...blank(4, 1, 'RGB'), data: Uint8Array.from([255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 10, 20]) };
  expect([...toGrey(image).data]).toEqual([76, 150, 29, 11]);
  // Hues at 0, a third and two thirds of 255; a blue of value 20 is half saturated.
  expect(toHsv(image).map(({ data }) => [...data])).toEqual([
    [0, 85, 170, 170],
    [255, 255, 255, 127],
    [255, 255, 255, 20],
  ]);
});

it('an edge that is doubled rings with Lanczos and stays flat elsewhere', () => {
  const wide = resize(grey(4, 1, 100, 100, 200, 200), 8, 1, 'lanczos');
  expect([...wide.data]).toHaveLength(8);
  expect(Math.min(...wide.data)).toBeLessThan(100);
  expect(Math.max(...wide.data)).toBeGreaterThan(200);
  expect([...resize(grey(2, 2, 7, 7, 7, 7), 5, 3, 'bicubic').data]).toEqual(Array(15).fill(7));
});

it('structural similarity of flat pictures is the luminance term', () => {
  const c1 = (0.01 * 255) ** 2;
  expect(ssim(flat(100), flat(100))).toBe(1);
  expect(ssim(flat(100), flat(120))).toBeCloseTo((24000 + c1) / (24400 + c1), 12);
});

it('perceptual hashes tell a slope from its mirror', () => {
  const slope = (turn: boolean) =>
    grey(32, 32, ...Array.from({ length: 1024 }, (_, i) => (turn ? 31 - (i % 32) : i % 32) * 8));
  expect(hashDistance(perceptualHash(slope(false)), perceptualHash(slope(false)))).toBe(0);
  expect(hashDistance(perceptualHash(slope(false)), perceptualHash(slope(true)))).toBeGreaterThan(5);
});
