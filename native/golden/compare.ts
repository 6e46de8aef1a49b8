/** What the golden files hold: null is "not compared", "-inf" an excluded entry. */
export type GoldenNumber = number | null | string;

export interface Difference {
  /** Greatest |got - want|. */
  max: number;
  /** Greatest |got - want| / tolerance: a miss above 1. */
  share: number;
}

/** The number that a golden entry stands for; NaN for null. */
export function numberOf(value: GoldenNumber): number {
  if (typeof value === 'number') return value;
  if (value === '-inf') return -Infinity;
  return value === 'inf' ? Infinity : NaN;
}

function one(got: number, want: number, tolerance: number): Difference {
  const max = Object.is(got, want) || got === want ? 0 : Math.abs(got - want);
  return Number.isNaN(max) ? { max: NaN, share: Infinity } : { max, share: max / tolerance };
}

/** The part that is nearest to a miss, or misses most. */
export function worst(parts: readonly Difference[]): Difference {
  return parts.reduce((a, b) => (b.share > a.share ? b : a), { max: 0, share: 0 });
}

/** One tolerance for a whole array: rtol * max(1, max|want|). Entries that are null in `want` are passed over. */
export function compareArray(got: ArrayLike<number>, want: readonly GoldenNumber[], rtol: number): Difference {
  const scale = want.reduce<number>((m, w) => (w === null ? m : Math.max(m, Math.abs(numberOf(w)))), 1);
  if (got.length !== want.length) return { max: NaN, share: Infinity };
  return worst(want.map((w, i) => (w === null ? { max: 0, share: 0 } : one(got[i]!, numberOf(w), rtol * scale))));
}

/** Row by row: rtol * max|row| + 1e-7; rows with mask 0 must be exactly 0. */
export function compareRows(
  got: ArrayLike<number>,
  want: readonly GoldenNumber[],
  mask: readonly GoldenNumber[],
  rtol: number,
): Difference {
  const width = want.length / mask.length;
  const rows = mask.map((m, row) => {
    const expected = want.slice(row * width, (row + 1) * width).map(numberOf);
    const scale = Math.max(...expected.map(Math.abs));
    const tolerance = m === 0 ? Number.MIN_VALUE : rtol * scale + 1e-7;
    return worst(expected.map((w, j) => one(got[row * width + j]!, m === 0 ? 0 : w, tolerance)));
  });
  return worst(rows);
}
