import { attributeOf, descendantsOf, type Element, parseXml } from '../xml.ts';
import { ZipArchive } from '../zip.ts';
import { A, P, R, type Relationship, relationshipsIn, relationshipsPath, resolvePath } from './package.ts';
import { Presentation } from './presentation.ts';

const LINK = 'file://';

/**
 * A slide's sound, or the picture of its background: the embedded file, the path of a linked one on the machine that
 * the presentation was made on, or null where there is none or the bytes are no presentation.
 * @param isInOrder whether slides count as they are shown, not by the numbers of their files
 */
export function findMedium(
  bytes: Uint8Array,
  medium: 'audio' | 'image',
  index: number,
  isInOrder: boolean,
): { name: string; bytes: Uint8Array } | string | null {
  try {
    const zip = new ZipArchive(bytes);
    const path = isInOrder ? new Presentation(bytes).slides[index]!.part.path : `ppt/slides/slide${index + 1}.xml`;
    const links = relationshipsIn(zip, relationshipsPath(path)).filter(({ type }) => type.includes(medium));
    const link = medium === 'audio' ? links[0] : backgroundLink(parseXml(zip.part(path)), links);
    if (link === undefined) return null;
    if (!link.target.startsWith('..')) return link.target.startsWith(LINK) ? link.target.slice(LINK.length) : null;
    const target = resolvePath('ppt/slides/', link.target);
    return { name: target.split('/').at(-1)!, bytes: zip.part(target) };
  } catch {
    return null;
  }
}

/** The link of the first picture in a background of the slide. */
function backgroundLink(slide: Element, links: Relationship[]): Relationship | undefined {
  const blips = descendantsOf(slide, P, 'bgPr').flatMap((properties) =>
    descendantsOf(properties, A, 'blip').slice(0, 1),
  );
  const id = blips.map((blip) => attributeOf(blip, 'embed', R)).find((embed) => embed !== undefined);
  return id === undefined ? undefined : links.find((link) => link.id === id);
}
