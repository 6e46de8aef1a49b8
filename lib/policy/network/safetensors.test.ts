import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { thrown } from '../../errors.testing.ts';
import { readSafetensors, writeSafetensors } from './safetensors.ts';

describe('safetensors', () => {
  it('lays out a file as the format says', () => {
    const file = writeSafetensors(new Map([['a', { shape: [1, 2], data: Float32Array.of(1, -2) }]]), { version: '3' });
    const length = Number(new DataView(file.buffer).getBigUint64(0, true));
    expect(length % 8).toBe(0);
    expect(JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)))).toEqual({
      __metadata__: { version: '3' },
      a: { dtype: 'F32', shape: [1, 2], data_offsets: [0, 8] },
    });
    expect(Array.from(file.subarray(8 + length))).toEqual([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
  });

  it('reads back what it wrote, in order', () => {
    const integers = { shape: [2], data: BigInt64Array.of(-1n, 2n ** 62n) };
    const tensors = new Map<string, { shape: number[]; data: Float32Array | BigInt64Array }>([
      ['z', { shape: [2, 2], data: Float32Array.of(1, 2, 3, Number.NaN) }],
      ['count', integers],
      ['empty', { shape: [0], data: new Float32Array(0) }],
    ]);
    const read = readSafetensors(writeSafetensors(tensors as never, { a: 'b' }));
    expect([...read.tensors.keys()]).toEqual(['z', 'empty']);
    expect(read.tensors.get('z')).toEqual({ shape: [2, 2], data: Float32Array.of(1, 2, 3, Number.NaN), kind: 'F32' });
    expect(read.integers.get('count')).toEqual(integers);
    expect(read.metadata).toEqual({ a: 'b' });
  });

  it.each([
    ['F16', [0, 1, -2.5, 65504, 2 ** -24, 2 ** -14, Infinity], 0],
    ['BF16', [0, 1, -2.5, 2 ** 100, 2 ** -100, -Infinity], 0],
    ['F16', [0.1, 3.25159, 1000.3], 2 ** -11],
    ['BF16', [0.1, 3.25159, 1000.3], 2 ** -8],
  ] as const)('%s holds %j to its precision', (kind, values, relative) => {
    const data = Float32Array.from(values);
    const { tensors } = readSafetensors(writeSafetensors(new Map([['x', { shape: [data.length], data, kind }]])));
    tensors.get('x')!.data.forEach((value, i) => {
      if (!Number.isFinite(data[i]!)) expect(value).toBe(data[i]);
      else expect(Math.abs(value - data[i]!)).toBeLessThanOrEqual(Math.abs(data[i]!) * relative);
    });
  });

  it('F16 rounds halves to even', () => {
    // Between 1 and 1 + 2^-10, and between 1 + 2^-10 and 1 + 2^-9.
    const data = Float32Array.of(1 + 2 ** -11, 1 + 3 * 2 ** -11);
    const read = readSafetensors(writeSafetensors(new Map([['x', { shape: [2], data, kind: 'F16' as const }]])));
    expect(Array.from(read.tensors.get('x')!.data)).toEqual([1, 1 + 2 ** -9]);
  });

  it('is refused wherever it is cut off', () => {
    const file = writeSafetensors(new Map([['a', { shape: [3], data: Float32Array.of(1, 2, 3) }]]));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: file.length - 1 }), (length) => {
        const error = thrown(() => readSafetensors(file.subarray(0, length), 'dir/weights.safetensors'));
        return (
          error.message.startsWith('this is not a whole safetensors file') && error.where === 'dir/weights.safetensors'
        );
      }),
    );
  });

  it('names what is wrong inside', () => {
    const text = JSON.stringify({ a: { dtype: 'F64', shape: [1], data_offsets: [0, 8] } });
    const file = new Uint8Array(8 + text.length + 8);
    new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
    file.set(new TextEncoder().encode(text), 8);
    expect(thrown(() => readSafetensors(file)).message).toBe("tensor 'a' has type F64, which is not supported");
  });
});
