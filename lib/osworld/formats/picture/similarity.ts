import { toGrey } from './convert.ts';
import { BANDS, type Image, sameSize } from './image.ts';
import { resize } from './resize.ts';

const [C1, C2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];

/**
 * Mean structural similarity, -1..1, averaged over the channels: uniform 7x7 window, sample covariance, constants of
 * Wang et al. 2004, borders left out (scikit-image's `structural_similarity`). Needs two 8-bit images of one mode and
 * size, at least as large as the window. Sums are of whole numbers and exact.
 */
export function ssim(a: Image, b: Image, window = 7): number {
  if (!sameSize(a, b) || a.mode !== b.mode || Math.min(a.width, a.height) < window) {
    throw new Error(`pictures of ${a.width}x${a.height} and ${b.width}x${b.height} cannot be compared`);
  }
  const bands = BANDS[a.mode];
  let sum = 0;
  for (let band = 0; band < bands; band += 1) sum += bandSsim(a, b, band, bands, window);
  return sum / bands;
}

function bandSsim(a: Image, b: Image, band: number, bands: number, window: number): number {
  const { width, height } = a;
  // Of each column: sums over the last `window` rows of a, b, a², b², ab.
  const columns = new Float64Array(width * 5);
  const n = window * window;
  let [total, count] = [0, 0];
  const addRow = (y: number, sign: number) => {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * bands + band;
      const [p, q] = [a.data[at]!, b.data[at]!];
      columns[x * 5]! += sign * p;
      columns[x * 5 + 1]! += sign * q;
      columns[x * 5 + 2]! += sign * p * p;
      columns[x * 5 + 3]! += sign * q * q;
      columns[x * 5 + 4]! += sign * p * q;
    }
  };
  for (let y = 0; y < height; y += 1) {
    addRow(y, 1);
    if (y >= window) addRow(y - window, -1);
    if (y < window - 1) continue;
    const sums = [0, 0, 0, 0, 0];
    for (let x = 0; x < width; x += 1) {
      for (let k = 0; k < 5; k += 1) {
        sums[k]! += columns[x * 5 + k]! - (x >= window ? columns[(x - window) * 5 + k]! : 0);
      }
      if (x < window - 1) continue;
      total += windowSsim(sums as [number, number, number, number, number], n);
      count += 1;
    }
  }
  return total / count;
}

function windowSsim([sa, sb, saa, sbb, sab]: [number, number, number, number, number], n: number): number {
  const [ma, mb] = [sa / n, sb / n];
  const norm = n / (n - 1);
  const [va, vb, cov] = [norm * (saa / n - ma * ma), norm * (sbb / n - mb * mb), norm * (sab / n - ma * mb)];
  return ((2 * ma * mb + C1) * (2 * cov + C2)) / ((ma * ma + mb * mb + C1) * (va + vb + C2));
}

/** The 64 bits of a perceptual hash: which of the lowest 8x8 cosine terms of a 32x32 grey picture exceed their median. */
export function perceptualHash(image: Image): boolean[] {
  const size = 32;
  const { data } = resize(toGrey(image), size, size, 'lanczos');
  const waves = Array.from({ length: 8 }, (_, k) =>
    Array.from({ length: size }, (_unused, n) => 2 * Math.cos((Math.PI * k * (2 * n + 1)) / (2 * size))),
  );
  // rows[k][x]: the terms down column x; then across.
  const rows = waves.map((wave) =>
    Array.from({ length: size }, (_, x) => wave.reduce((sum, value, y) => sum + value * data[y * size + x]!, 0)),
  );
  const terms = rows.flatMap((row) => waves.map((wave) => wave.reduce((sum, value, x) => sum + value * row[x]!, 0)));
  const sorted = [...terms].sort((p, q) => p - q);
  const median = (sorted[31]! + sorted[32]!) / 2;
  return terms.map((term) => term > median);
}

/** In how many bits two hashes differ. */
export function hashDistance(a: boolean[], b: boolean[]): number {
  return a.filter((bit, at) => bit !== b[at]).length;
}
