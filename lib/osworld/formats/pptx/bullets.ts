import { attributeOf, childOf, descendantsOf, leadingText } from '../xml.ts';
import { A, type Part } from './package.ts';

/** A paragraph with text, as its XML gives its bullet. */
export interface Bullet {
  /** Depth as written; undefined where the paragraph does not say. */
  level: string | undefined;
  /** The bullet's letter; null without a bullet, undefined for a bullet without a letter. */
  letter: string | null | undefined;
  text: string;
}

/** Every paragraph with text of a slide, in groups, tables and fallbacks too. `hasEmpty`: a text element is empty. */
export function bulletsOf(part: Part): { bullets: Bullet[]; hasEmpty: boolean } {
  const texts = new Map(
    descendantsOf(part.root, A, 'p').map((paragraph) => [
      paragraph,
      descendantsOf(paragraph, A, 't').map((text) => leadingText(text)),
    ]),
  );
  const bullets = [...texts].map(([paragraph, pieces]) => {
    const properties = childOf(paragraph, A, 'pPr');
    const bullet = properties && childOf(properties, A, 'buChar');
    return {
      level: properties && attributeOf(properties, 'lvl'),
      letter: bullet ? attributeOf(bullet, 'char') : null,
      text: pieces.join(''),
    };
  });
  return { bullets, hasEmpty: [...texts.values()].flat().includes('') };
}
