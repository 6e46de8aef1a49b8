/**
 * The pixel font: 3 pixels wide in a 4x8 character cell. Lower case letters are small capitals (5 rows high), upper case
 * letters are the same shapes 7 rows high, so that one shape has to be learned for both.
 */
const SHAPES: Record<string, string> = {
  a: '010 101 111 101 101',
  b: '110 101 110 101 110',
  c: '011 100 100 100 011',
  d: '110 101 101 101 110',
  e: '111 100 110 100 111',
  f: '111 100 110 100 100',
  g: '011 100 101 101 011',
  h: '101 101 111 101 101',
  i: '111 010 010 010 111',
  j: '001 001 001 101 010',
  k: '101 101 110 101 101',
  l: '100 100 100 100 111',
  m: '101 111 111 101 101',
  n: '110 101 101 101 101',
  o: '010 101 101 101 010',
  p: '110 101 110 100 100',
  q: '010 101 101 010 001',
  r: '110 101 110 110 101',
  s: '011 100 010 001 110',
  t: '111 010 010 010 010',
  u: '101 101 101 101 111',
  v: '101 101 101 101 010',
  w: '101 101 111 111 101',
  x: '101 101 010 101 101',
  y: '101 101 010 010 010',
  z: '111 001 010 100 111',
  '0': '111 101 101 101 111',
  '1': '010 110 010 010 111',
  '2': '110 001 010 100 111',
  '3': '110 001 010 001 110',
  '4': '101 101 111 001 001',
  '5': '111 100 110 001 110',
  '6': '011 100 111 101 111',
  '7': '111 001 010 010 010',
  '8': '111 101 111 101 111',
  '9': '111 101 111 001 110',
  '.': '000 000 000 000 010',
  ',': '000 000 000 010 100',
  ':': '000 010 000 010 000',
  ';': '000 010 000 010 100',
  '!': '010 010 010 000 010',
  '?': '110 001 010 000 010',
  '-': '000 000 111 000 000',
  _: '000 000 000 000 111',
  '=': '000 111 000 111 000',
  '+': '000 010 111 010 000',
  '*': '000 101 010 101 000',
  '/': '001 001 010 100 100',
  '\\': '100 100 010 001 001',
  '@': '111 101 111 100 111',
  '(': '001 010 010 010 001',
  ')': '100 010 010 010 100',
  '[': '011 010 010 010 011',
  ']': '110 010 010 010 110',
  '{': '011 010 110 010 011',
  '}': '110 010 011 010 110',
  '<': '001 010 100 010 001',
  '>': '100 010 001 010 100',
  "'": '010 010 000 000 000',
  '"': '101 101 000 000 000',
  '#': '101 111 101 111 101',
  $: '011 110 010 011 110',
  '%': '101 001 010 100 101',
  '&': '010 101 010 101 011',
  '^': '010 101 000 000 000',
  '`': '100 010 000 000 000',
  '|': '010 010 010 010 010',
  '~': '000 011 110 000 000',
};

/** Which of the 5 rows each of the 7 rows of a capital repeats. */
const STRETCH = [0, 1, 1, 2, 3, 3, 4];

function rowsOf(shape: string): number[] {
  return shape.split(' ').map((row) => Number.parseInt(row, 2));
}

/** 8 rows of 3 bits (4 = left pixel), indexed by `code * 8 + row`, for character codes 0..127. */
export const GLYPHS: Uint8Array = buildGlyphs();

function buildGlyphs(): Uint8Array {
  const glyphs = new Uint8Array(128 * 8);
  // An unknown character is a hollow box, never nothing: text is there even where its shape is not.
  for (let code = 33; code < 128; code++) glyphs.set([7, 5, 5, 5, 7], code * 8 + 1);
  for (const [char, shape] of Object.entries(SHAPES)) {
    const rows = rowsOf(shape);
    glyphs.set(rows, char.charCodeAt(0) * 8 + 1);
    const upper = char.toUpperCase();
    if (upper === char) continue;
    STRETCH.forEach((source, row) => {
      glyphs[upper.charCodeAt(0) * 8 + row] = rows[source] ?? 0;
    });
  }
  return glyphs;
}

/** Pictograms, 8 rows of 8 pixels, hexadecimal bytes, top row first. */
const PICTURES = {
  chrome: '3c42 99bd bd99 423c',
  gimp: '6699 817e a581 423c',
  calc: 'ff91 ff91 ff91 ff00',
  slides: 'ff81 bda5 bd81 ff18',
  writer: 'fe82 ba82 ba82 fe00',
  mail: 'ffc3 a599 8181 ff00',
  vlc: '1818 3c24 7e42 ff00',
  code: '2442 9911 9942 2400',
  files: '7088 8f81 8181 ff00',
  term: 'ff81 a191 a1ad ff00',
  system: '185a 3ce7 e73c 5a18',
  close: '0042 2418 1824 4200',
  tick: '0001 0306 8cd8 7020',
  dot: '003c 7e7e 7e7e 3c00',
  ring: '003c 4242 4242 3c00',
  box: '007e 4242 4242 7e00',
  star: '1018 fe7c 386c 4400',
  starOff: '1028 ee44 286c 4400',
  back: '0818 3878 3818 0800',
  plus: '0018 187e 7e18 1800',
  dots: '1818 0018 1800 1818',
  folder: '0070 ff81 8181 ff00',
  file: '003c 2426 2222 3e00',
  trash: '187e 243c 3c24 3c00',
  play: '4060 7078 7060 4000',
  note: '0e0a 0808 3878 3000',
  picture: 'ff81 a589 95a1 ff00',
  image: 'ff81 b581 99bd ff00',
  envelope: '00ff c3a5 9981 ff00',
  wave: '0018 2442 8142 2418',
} as const;

export type IconName = keyof typeof PICTURES;

const iconNames = Object.keys(PICTURES) as IconName[];

/** Bitmap of all pictograms: `id * 8 + row`, bit 7 = left pixel. Id 0 is no pictogram. */
export const ICONS: Uint8Array = Uint8Array.from([
  ...new Array<number>(8).fill(0),
  ...iconNames.flatMap((name) => [...Buffer.from(PICTURES[name].replaceAll(' ', ''), 'hex')]),
]);

const iconIds = new Map<string, number>(iconNames.map((name, index) => [name, index + 1]));

/** Id of a pictogram in ICONS; 0 when there is none. */
export function iconId(name: IconName | undefined): number {
  return name === undefined ? 0 : (iconIds.get(name) ?? 0);
}
