type Triple = [number, number, number];

/** CIE XYZ of the D65 white of the 2° observer, and the matrix from linear sRGB to it. */
const WHITE: Triple = [0.95047, 1, 1.08883];
const TO_XYZ: Triple[] = [
  [0.412453, 0.35758, 0.180423],
  [0.212671, 0.71516, 0.072169],
  [0.019334, 0.119193, 0.950227],
];

/** CIEDE2000 distance of two sRGB colours 0..255; about 1 is the least that an eye sees. */
export function colorDistance(first: Triple, second: Triple): number {
  return ciede2000(labOf(first), labOf(second));
}

function labOf(rgb: Triple): Triple {
  const linear = rgb.map((level) => {
    const value = level / 255;
    return value > 0.04045 ? ((value + 0.055) / 1.055) ** 2.4 : value / 12.92;
  });
  const [x, y, z] = TO_XYZ.map((row, i) => {
    const value = row.reduce((sum, factor, j) => sum + factor * linear[j]!, 0) / WHITE[i]!;
    return value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116;
  }) as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** The formula of Sharma, Wu and Dalal (2005), with all weights 1. */
function ciede2000([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const meanChroma = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const stretch = 1 + 0.5 * (1 - Math.sqrt(meanChroma ** 7 / (meanChroma ** 7 + 25 ** 7)));
  const [c1, h1] = polar(a1 * stretch, b1);
  const [c2, h2] = polar(a2 * stretch, b2);
  const [light, chroma] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const turn = c1 * c2 === 0 ? 0 : wrapped(h2 - h1);
  const hue = c1 * c2 === 0 ? h1 + h2 : middle(h1, h2);
  const t =
    1 - 0.17 * cosine(hue - 30) + 0.24 * cosine(2 * hue) + 0.32 * cosine(3 * hue + 6) - 0.2 * cosine(4 * hue - 63);
  const dl = (l2 - l1) / (1 + (0.015 * (light - 50) ** 2) / Math.sqrt(20 + (light - 50) ** 2));
  const dc = (c2 - c1) / (1 + 0.045 * chroma);
  const dh = (2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2))) / (1 + 0.015 * chroma * t);
  const rotation = 60 * Math.exp(-(((hue - 275) / 25) ** 2));
  const cross = -2 * Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7)) * Math.sin(radians(rotation));
  return Math.sqrt(Math.max(0, dl ** 2 + dc ** 2 + dh ** 2 + cross * dc * dh));
}

/** Chroma and hue in degrees 0..360. */
function polar(a: number, b: number): [number, number] {
  const degrees = (Math.atan2(b, a) * 180) / Math.PI;
  return [Math.hypot(a, b), degrees < 0 ? degrees + 360 : degrees];
}

function wrapped(turn: number): number {
  if (turn > 180) return turn - 360;
  return turn < -180 ? turn + 360 : turn;
}

/** The hue between two, on the shorter arc. */
function middle(h1: number, h2: number): number {
  const mean = (h1 + h2) / 2;
  if (Math.abs(h1 - h2) <= 180) return mean;
  return h1 + h2 < 360 ? mean + 180 : mean - 180;
}

function cosine(degrees: number): number {
  return Math.cos(radians(degrees));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
