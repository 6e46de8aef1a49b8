import { deflateSync } from 'node:zlib';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { FrameCache } from './frames.ts';
import { decodePicture } from './pictures.ts';

/** 2x2: red green / blue white. */
const RGB = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];

function chunk(name: string, data: Uint8Array): Buffer {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(name, 4, 'latin1');
  out.set(data, 8);
  return out; // the CRC is not looked at on the short way
}

function indexedPng(): Buffer {
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 3, 0, 0, 0]);
  const palette = Uint8Array.from([...RGB]);
  const half = deflateSync(Uint8Array.from([0, 0, 1, 0, 2, 3]));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [chunk('IDAT', half.subarray(0, 4)), chunk('IDAT', half.subarray(4))];
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    ...parts,
    chunk('IEND', Buffer.of()),
  ]);
}

describe('decodePicture', () => {
  it('reads an indexed picture whose data is split over chunks', () => {
    const picture = decodePicture(indexedPng(), 'x.png');
    expect([picture.width, picture.height, [...picture.rgb]]).toEqual([2, 2, RGB]);
  });

  it('reads rgb, rgba and grey pictures', () => {
    const image = { width: 2, height: 2, depth: 8 } as const;
    const rgb = encode({ ...image, channels: 3, data: Uint8Array.from(RGB) });
    expect([...decodePicture(rgb, 'x').rgb]).toEqual(RGB);
    const rgba = [0, 3, 6, 9].flatMap((i) => [...RGB.slice(i, i + 3), 128]);
    expect([...decodePicture(encode({ ...image, channels: 4, data: Uint8Array.from(rgba) }), 'x').rgb]).toEqual(RGB);
    const grey = encode({ ...image, channels: 1, data: Uint8Array.from([1, 2, 3, 4]) });
    expect([...decodePicture(grey, 'x').rgb]).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
  });

  it('names the file that is no picture', () => {
    expect(() => decodePicture(Buffer.from('hello'), 'ab/cd.png')).toThrow(DartError);
    expect(() => decodePicture(indexedPng().subarray(0, 60), 'x')).toThrow('not a PNG');
  });
});

describe('FrameCache', () => {
  const blobs = (files: Record<string, Uint8Array>) => ({
    path: (sha: string) => `blobs/${sha}.png`,
    readSync: (sha: string) => {
      const found = files[sha];
      if (!found) throw new DartError('no such screenshot', { where: `blobs/${sha}.png` });
      return found;
    },
  });

  it('reads each frame once, until it is the one longest unused', () => {
    const png = indexedPng();
    const frames = new FrameCache(blobs({ a: png, b: png, c: png }), 2);
    for (const sha of ['a', 'b', 'a', 'c', 'a']) frames.get(sha, 'x');
    expect(frames.misses).toBe(3);
    frames.get('b', 'x');
    expect(frames.misses).toBe(4);
  });

  it('names the sample and the file when a blob is missing', () => {
    const frames = new FrameCache(blobs({}));
    let text = '';
    try {
      frames.get('a', 'samples.ndjson:7');
    } catch (error) {
      text = (error as DartError).describe();
    }
    expect(text).toContain('samples.ndjson:7');
    expect(text).toContain('blobs/a.png');
  });
});
