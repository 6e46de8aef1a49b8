/** bf16 is the upper half of an f32. */
export function bf16FromNumbers(values: ArrayLike<number>): Uint16Array {
  const bits = new Uint32Array(Float32Array.from(values).buffer);
  return Uint16Array.from(bits, (b) => {
    if ((b & 0x7fffffff) > 0x7f800000) return (b >>> 16) | 0x40;
    return (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
  });
}

/** Exact. */
export function numbersFromBf16(values: Uint16Array): Float32Array {
  return new Float32Array(Uint32Array.from(values, (v) => v << 16).buffer);
}
