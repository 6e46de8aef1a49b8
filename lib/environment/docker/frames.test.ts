import { describe, expect, it } from 'vitest';
import { FrameReader } from './frames.ts';

/** One frame of stream 1 (stdout) or 2 (stderr). */
function frame(stream: number, bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

describe('frames of a log', () => {
  it('are told apart however the bytes come', () => {
    const all = Buffer.concat([
      frame(1, Buffer.from('one\n')),
      frame(2, Buffer.from('two\n')),
      frame(1, Buffer.from('three\n')),
    ]);
    const reader = new FrameReader();
    const pieces = [...all].flatMap((byte) => reader.read(Uint8Array.of(byte)));
    expect(pieces).toEqual([
      { stream: 'stdout', text: 'one\n' },
      { stream: 'stderr', text: 'two\n' },
      { stream: 'stdout', text: 'three\n' },
    ]);
  });

  it('may end in the middle of a character', () => {
    const [a, b] = [Buffer.from('ä').subarray(0, 1), Buffer.from('ä').subarray(1)];
    expect(new FrameReader().read(Buffer.concat([frame(1, a), frame(2, Buffer.from('!')), frame(1, b)]))).toEqual([
      { stream: 'stderr', text: '!' },
      { stream: 'stdout', text: 'ä' },
    ]);
  });
});
