/** IEEE 754 half precision of one number, rounded to nearest even; beyond 65,504 it is infinite. */
function f16From(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(size)) return 0x7e00;
  if (size >= 65_520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const steps = size * 2 ** (10 - exponent);
  const below = Math.floor(steps);
  const up = steps - below > 0.5 || (steps - below === 0.5 && below % 2 === 1);
  // Without the hidden bit; a carry runs on into the exponent, and below 2^-14 there is none.
  return sign | (((exponent + 14) << 10) + below + (up ? 1 : 0));
}

/** Bits of IEEE 754 half precision, each number rounded to nearest even. */
export function f16FromNumbers(values: ArrayLike<number>): Uint16Array {
  return Uint16Array.from(values, f16From);
}

/** Exact. */
export function numbersFromF16(values: Uint16Array): Float32Array {
  return Float32Array.from(values, (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
}
