import { encode } from 'fast-png';
import type { FetchedFile } from '../context.ts';

/** Metric, result, expected, options, score. */
export type Row = [name: string, result: unknown, expected: unknown, options: object, score: number];

/** A picture of 8x8 grey blocks that gets brighter to the right, and what `change` makes of each pixel. */
export function png(change: (x: number, y: number) => number[] = shade, width = 8, height = 8): FetchedFile {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) data.set(change(x, y), (y * width + x) * 3);
  return { name: 'p.png', bytes: encode({ width, height, data, channels: 3, depth: 8 }) };
}
const shade = (x: number, y: number): number[] => [x * 20, y * 20, 100];
const moved = (map: (x: number, y: number) => [number, number]) => png((x, y) => shade(...map(x, y)));

/** Pictures. */
export const IMAGES: Row[] = [
  ['check_image_size', png(shade, 6, 4), { width: 6, height: 4 }, {}, 1],
  ['check_image_size', png(shade, 6, 4), { height: 5 }, {}, 0],
  ['check_image_size', null, { height: 5 }, {}, 0],
  ['check_image_size', { name: 'f', bytes: Buffer.from('no png') }, { height: 5 }, {}, 0],
  ['check_image_mirror', moved((x, y) => [7 - x, y]), png(), {}, 1],
  ['check_image_mirror', png(), png(), {}, 0],
  ['check_structure_sim', png(), png(), {}, 1],
  ['check_structure_sim', moved((x, y) => [7 - x, 7 - y]), png(), {}, 0],
  ['check_brightness_decrease_and_structure_sim', png((x, y) => shade(x, y).map((v) => v / 2)), png(), {}, 1],
  ['check_brightness_decrease_and_structure_sim', png(), png(), {}, 0],
  ['check_brightness_decrease_and_structure_sim', png(() => [0, 0, 0]), png(), {}, 0],
  ['check_image_transform', png(), png(), { transform: 'none' }, 1],
  ['check_image_transform', moved((x, y) => [x, 7 - y]), png(), { transform: 'flip_vertical' }, 1],
  ['check_image_transform', png(), png(), { transform: 'flip_vertical' }, 0],
  // Turned to the right, the old bottom left is the new top left.
  ['check_image_transform', moved((x, y) => [y, 7 - x]), png(), { transform: 'rotate_right' }, 1],
  ['check_image_transform', moved((x, y) => [7 - y, x]), png(), { transform: 'rotate_left' }, 1],
  ['check_image_transform', png((x, y) => shade(x, y).map((v) => 255 - v)), png(), { transform: 'invert' }, 1],
  ['check_image_transform', png((x, y) => Array(3).fill(x * 6 + y * 11.8 + 11)), png(), { transform: 'desaturate' }, 1],
  ['check_image_transform', png((x, y) => shade(x, y).map((v) => v + 3)), png(), { transform: 'none' }, 0],
  [
    'check_image_transform',
    png((x, y) => shade(x, y).map((v) => v + 3)),
    png(),
    { transform: 'none', tolerance: 3 },
    1,
  ],
];
