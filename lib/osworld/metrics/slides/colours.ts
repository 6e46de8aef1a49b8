import type { Fields } from '../../fields.ts';
import { fillRgb, solidRgb } from '../../formats/pptx/fill.ts';
import { placeholderKind, placeholderOf, shapeElements, treeOf } from '../../formats/pptx/geometry.ts';
import { A, P, type Part } from '../../formats/pptx/package.ts';
import type { Slide } from '../../formats/pptx/presentation.ts';
import { joinParagraphs, paragraphsOf } from '../../formats/pptx/text.ts';
import { isSameRgb, type Rgb } from '../../formats/pptx/values.ts';
import { childOf, type Element } from '../../formats/xml.ts';
import type { MetricInput } from '../../kinds.ts';
import { rulesOf } from '../input.ts';
import { scoreDeck } from './decks.ts';

/** 1 less the mean distance of the slides' backgrounds from `rgb`; where it is still `original_rgb` that is 1. */
export function scoreBackgrounds(input: MetricInput): number {
  const rules = rulesOf(input);
  const wanted = colourIn(rules, 'rgb');
  const original = rules.has('original_rgb') ? colourIn(rules, 'original_rgb') : null;
  return scoreDeck(input, ({ slides }) => {
    if (slides.length === 0) throw new Error('the presentation has no slides');
    const distances = slides.map((slide) => {
      const colour = backgroundRgb(slide);
      return colour === null || isSameRgb(colour, original) ? 1 : distance(colour, wanted);
    });
    return 1 - distances.reduce((sum, value) => sum + value, 0) / slides.length;
  });
}

/** A theme's colour and one that cannot be read are none. */
function backgroundRgb(slide: Slide): Rgb | null {
  const fill = slide.backgroundFill;
  try {
    return fill && solidRgb(fill);
  } catch {
    return null;
  }
}

/** Distance of two colours, 0..1. */
function distance(a: Rgb, b: Rgb): number {
  const [red, green, blue] = a.map((part, index) => (part - b[index]!) ** 2) as Rgb;
  return Math.sqrt(red + green + blue) / Math.sqrt(3 * 255 ** 2);
}

function colourIn(rules: Fields, name: string): Rgb {
  const parts = rules.list(name);
  if (parts.length !== 3 || !parts.every((part) => typeof part === 'number')) {
    throw rules.wrong(name, 'a list of red, green and blue');
  }
  return parts as Rgb;
}

/** 1 when the numbers of slides are red on the first master that shows a number, by a colour of its own. */
export function checkSlideNumbersColour(input: MetricInput): number {
  return scoreDeck(input, ({ slides, masters }) => {
    const isNumbered = slides.some(({ shapes }) =>
      shapes.some(
        (shape) => shape.hasText && /^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]+$/u.test(shape.text),
      ),
    );
    if (!isNumbered) return 0;
    const number = masters.flatMap(placeholdersOf).find((shape) => joinParagraphs(bodyOf(shape)) === '<number>');
    const first = number && bodyOf(number)[0]?.properties;
    const look = first && childOf(first, A, 'defRPr');
    return Number(look !== undefined && isSameRgb(fillRgb(look), [255, 0, 0]));
  });
}

const bodyOf = (shape: Element) => paragraphsOf(childOf(shape, P, 'txBody'));

/** The placeholders of a master that can hold text. */
export function placeholdersOf(master: Part): Element[] {
  return shapeElements(treeOf(master)).filter(
    (shape) => shape.localName === 'sp' && placeholderOf(shape) !== undefined,
  );
}

/** Placeholders of a master that show the slide's number. */
export function numbersOn(master: Part): Element[] {
  return placeholdersOf(master).filter((shape) => placeholderKind(placeholderOf(shape)!) === 'sldNum');
}
