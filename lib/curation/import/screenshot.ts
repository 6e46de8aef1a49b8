import type { Screenshot } from '../../stream/records.ts';
import type { ImportFolder } from './folder.ts';
import type { ImportParts } from './importer.ts';
import { pngSize } from './png.ts';
import type { EpisodeStep } from './steps.ts';

type Kept = EpisodeStep['screenshot'];

/** No picture in front of this step. */
export const NONE: Kept = { file: null, refused: 'there is no screenshot before this step' };

/** Puts a picture into the blob store; or says what is wrong with it. */
export async function keepPng(bytes: Buffer, file: string, parts: ImportParts): Promise<Kept> {
  const size = pngSize(bytes);
  if (typeof size === 'string') return { file, refused: size };
  const sha256 = await parts.keep(bytes);
  return { sha256, media_type: 'image/png', ...size } satisfies Screenshot;
}

/** As `keepPng`, for a file that a record names, seen from the first of the folders that has it. */
export async function keepFile(
  folder: ImportFolder,
  places: readonly string[],
  name: string,
  parts: ImportParts,
): Promise<Kept> {
  let refused = 'there is no such file';
  for (const place of places) {
    const found = await folder.read(place, name);
    if ('bytes' in found) return keepPng(found.bytes, name, parts);
    refused = found.refused;
    // A name that leads out of the folder is not tried from elsewhere.
    if (refused !== 'there is no such file') break;
  }
  return { file: name, refused };
}
