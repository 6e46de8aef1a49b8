import { toRgba } from '../../formats/picture/convert.ts';
import { type Image, sameSize } from '../../formats/picture/image.ts';
import { readImage } from '../../formats/picture/read.ts';

/**
 * True for two picture files whose pixels are stored alike: as OSWorld, which looks neither at size nor at the colours
 * that a palette's numbers stand for. `isStrict` does. Files of a kind that is not decoded here (a metafile) are
 * compared byte by byte.
 */
export async function samePixels(first: Uint8Array, second: Uint8Array, isStrict: boolean): Promise<boolean> {
  if (Buffer.compare(first, second) === 0) return true;
  const [a, b] = [await imageOf(first), await imageOf(second)];
  if (a === null || b === null) return false;
  if (!isStrict) return Buffer.compare(stored(a), stored(b)) === 0;
  return sameSize(a, b) && Buffer.compare(bytesOf(toRgba(a)), bytesOf(toRgba(b))) === 0;
}

async function imageOf(bytes: Uint8Array): Promise<Image | null> {
  try {
    return await readImage(bytes);
  } catch {
    return null;
  }
}

/** What Pillow's `tobytes` gives; black and white is packed there, each row from a whole byte, so its width counts. */
function stored(image: Image): Uint8Array {
  return image.mode === '1' ? Buffer.concat([Buffer.from(`${image.width};`), bytesOf(image)]) : bytesOf(image);
}

function bytesOf({ data }: Image): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
