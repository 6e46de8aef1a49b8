/** How Pillow holds a picture. `P`: indices of a palette; `1`: black and white as 0 and 255; `I;16`: 16-bit grey. */
export type Mode = '1' | 'L' | 'LA' | 'P' | 'RGB' | 'RGBA' | 'CMYK' | 'I;16';

/** Channels a pixel by mode. */
export const BANDS: Record<Mode, number> = { '1': 1, L: 1, LA: 2, P: 1, RGB: 3, RGBA: 4, CMYK: 4, 'I;16': 1 };

/** A picture as Pillow opens it: the first frame, row-major, `width * height * BANDS[mode]` values. */
export interface Image {
  width: number;
  height: number;
  mode: Mode;
  data: Uint8Array | Uint16Array;
  /** RGBA of the palette's entries, of mode `P`. */
  palette?: number[][];
  /** The file names a transparent colour beside its channels (PNG's tRNS, a GIF's transparent index). */
  hasTransparency: boolean;
}

/** An image of some mode with all values 0. */
export function blank(width: number, height: number, mode: Mode): Image & { data: Uint8Array } {
  return { width, height, mode, data: new Uint8Array(width * height * BANDS[mode]), hasTransparency: false };
}

/** True for images of one size. */
export function sameSize(a: Image, b: Image): boolean {
  return a.width === b.width && a.height === b.height;
}

/** `[left, top, right, bottom]` of the box around pixels that `counts`, the ends excluded; null without any. */
export function boxOf(image: Image, counts: (pixel: number) => boolean): [number, number, number, number] | null {
  let [left, top, right, bottom] = [image.width, image.height, 0, 0];
  for (let y = 0; y < image.height; y += 1) {
    for (let x = 0; x < image.width; x += 1) {
      if (!counts(y * image.width + x)) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = y + 1;
    }
  }
  return bottom === 0 ? null : [left, top, right, bottom];
}

/** The part of an image inside a box. */
export function crop(image: Image, [left, top, right, bottom]: [number, number, number, number]): Image {
  const cut = { ...image, ...blank(right - left, bottom - top, image.mode), palette: image.palette };
  const bands = BANDS[image.mode];
  for (let y = top; y < bottom; y += 1) {
    const start = (y * image.width + left) * bands;
    cut.data.set(image.data.subarray(start, start + cut.width * bands), (y - top) * cut.width * bands);
  }
  return cut;
}

/** The image mirrored left to right. */
export function mirrored(image: Image): Image {
  const bands = BANDS[image.mode];
  const data = image.data.slice();
  for (let pixel = 0; pixel < image.width * image.height; pixel += 1) {
    const x = pixel % image.width;
    const from = (pixel - x + image.width - 1 - x) * bands;
    data.set(image.data.subarray(from, from + bands), pixel * bands);
  }
  return { ...image, data };
}
