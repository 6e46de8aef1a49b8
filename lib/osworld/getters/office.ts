import type { FetchedFile, TaskContext } from '../context.ts';
import type { Fields } from '../fields.ts';
import type { Getter } from '../kinds.ts';
import { guestFile } from './files.ts';

/** The word in a relationship's type that tells what it leads to. */
type Medium = 'audio' | 'image';

/** `{ppt_file_path, slide_index, dest}`: the sound of a slide (from 0), embedded or linked; null without one. */
const audioInSlide: Getter = (config, context) => mediumOf('audio', config, context);

/** `{ppt_file_path, slide_index, dest}`: the picture behind a slide (from 0), embedded or linked; null without one. */
const backgroundInSlide: Getter = (config, context) => mediumOf('image', config, context);

/**
 * OSWorld takes the slide's file by its number; the strict protocol the slide that is shown at that place. A
 * presentation that is missing or cannot be read has no media.
 */
async function mediumOf(medium: Medium, config: Fields, context: TaskContext): Promise<FetchedFile | null> {
  const index = config.number('slide_index');
  const deck = await guestFile(config.text('ppt_file_path'), context);
  if (deck === null) return null;
  const { findMedium } = await import('../formats/pptx/media.ts');
  const found = findMedium(deck.bytes, medium, index, context.protocol.fidelity === 'strict');
  if (found === null || typeof found !== 'string') return found;
  const linked = await guestFile(found, context);
  return linked && { ...linked, name: config.text('dest', linked.name) };
}

export const officeGetters: Record<string, Getter> = {
  audio_in_slide: audioInSlide,
  background_image_in_slide: backgroundInSlide,
};
