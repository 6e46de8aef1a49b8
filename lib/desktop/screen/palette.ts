/** Colours of the embedded desktop: 32 for the interface, 32 for pictures. A pixel is an index into PALETTE. */
const INTERFACE = {
  black: [16, 16, 24],
  white: [255, 255, 255],
  wallBlue: [40, 80, 120],
  wallGreen: [40, 104, 72],
  wallPurple: [96, 64, 128],
  wallOrange: [176, 104, 48],
  window: [224, 224, 230],
  titleIdle: [128, 128, 150],
  title: [32, 40, 140],
  close: [200, 40, 40],
  button: [168, 174, 196],
  toggleOn: [84, 200, 120],
  field: [250, 252, 255],
  fieldFocus: [255, 240, 168],
  fieldSelected: [255, 188, 88],
  row: [243, 243, 240],
  rowSelected: [128, 184, 250],
  menuBar: [198, 216, 200],
  menuOpen: [104, 168, 116],
  popup: [232, 250, 222],
  dialog: [242, 212, 200],
  dialogTitle: [170, 60, 60],
  dock: [48, 50, 60],
  dockRunning: [88, 70, 130],
  dockIcon: [236, 186, 64],
  unread: [252, 252, 190],
  checkOn: [56, 196, 88],
  line: [104, 106, 118],
  link: [20, 60, 200],
  dockText: [232, 232, 232],
  star: [214, 130, 0],
  tab: [186, 188, 206],
} as const;

type ColourName = keyof typeof INTERFACE;

/** First of the 32 colours that pictures use. */
const PICTURE_BASE = 32;
const LEVELS = [0, 128, 255];
const GREYS = [48, 88, 168, 208, 232];

function pictureColours(): number[][] {
  const cube = LEVELS.flatMap((r) => LEVELS.flatMap((g) => LEVELS.map((b) => [r, g, b])));
  return [...cube, ...GREYS.map((v) => [v, v, v])];
}

const entries: number[][] = [...Object.values(INTERFACE).map((c) => [...c]), ...pictureColours()];

/** RGB of each palette index, 3 bytes each, 64 colours. */
export const PALETTE: Uint8Array = Uint8Array.from(entries.flat());

/** Palette index of each interface colour. */
export const C: Readonly<Record<ColourName, number>> = Object.fromEntries(
  Object.keys(INTERFACE).map((name, index) => [name, index]),
) as Record<ColourName, number>;

/** Palette index of a colour of the picture cube; each level is 0, 1 or 2 (0, 128, 255). */
export function cube(r: number, g: number, b: number): number {
  return PICTURE_BASE + r * 9 + g * 3 + b;
}

const nearestCache = new Map<number, number>();

/** Palette index of the picture colour nearest to an RGB value (0..255 each). */
export function nearest(r: number, g: number, b: number): number {
  const key = (r << 16) | (g << 8) | b;
  const known = nearestCache.get(key);
  if (known !== undefined) return known;
  let best = PICTURE_BASE;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (let i = PICTURE_BASE; i < entries.length; i++) {
    const [pr = 0, pg = 0, pb = 0] = entries[i] ?? [];
    const distance = (pr - r) ** 2 + (pg - g) ** 2 + (pb - b) ** 2;
    if (distance >= bestDistance) continue;
    best = i;
    bestDistance = distance;
  }
  // Bounded: pictures of a long run must not fill the memory.
  if (nearestCache.size > 4096) nearestCache.clear();
  nearestCache.set(key, best);
  return best;
}
