import { bulletsOf } from '../../formats/pptx/bullets.ts';
import { solidRgb } from '../../formats/pptx/fill.ts';
import type { Presentation, Slide } from '../../formats/pptx/presentation.ts';
import type { Shape } from '../../formats/pptx/shape.ts';
import { isSameRgb, type Rgb } from '../../formats/pptx/values.ts';
import { strip } from '../sheets/python.ts';
import type { Examine } from './examine.ts';
import { isWellPlaced } from './places.ts';
import { haveSameAlignment, haveSameCells, haveSameText } from './texts.ts';

/**
 * Whether two presentations agree in everything that is examined.
 * Throws an Error where OSWorld's Python raises: at what python-pptx cannot read, or a place that only one side has.
 */
export function isSamePresentation(result: Presentation, expected: Presentation, examine: Examine): boolean {
  if (result.slides.length !== expected.slides.length && examine.number_of_slides) return false;
  return result.slides
    .slice(0, expected.slides.length)
    .every((slide, index) => isSameSlide(slide, expected.slides[index]!, index + 1, examine));
}

function isSameSlide(result: Slide, expected: Slide, number: number, examine: Examine): boolean {
  const [ground, wanted] = [result, expected].map((slide) => backgroundOf(slide, examine));
  if (!isSameRgb(ground!, wanted!) && examine.background_color) return false;
  const [notes, remarks] = [result, expected].map((slide) => strip(notesOf(slide, examine)));
  if (notes !== remarks && examine.note) return false;
  if (result.shapes.length !== expected.shapes.length) return false;
  const meet = once(() => !examine.bullets || haveSameBullets(result, expected, examine));
  if (!result.shapes.every((shape, index) => isSameShape(shape, expected.shapes[index]!, number, examine, meet))) {
    return false;
  }
  const [texts, others] = [result.textShapes, expected.textShapes];
  if (texts.length !== others.length) return false;
  return !examine.alignment || texts.every((shape, index) => haveSameAlignment(shape, others[index]!, examine));
}

function isSameShape(result: Shape, expected: Shape, number: number, examine: Examine, meet: () => boolean): boolean {
  // Read at once: a kind that cannot be told ends the comparison.
  const [kind] = [result.kind, expected.kind];
  if (!isWellPlaced(result, expected, number, examine)) return false;
  if (kind === 'table' && !haveSameCells(result.table, expected.table, examine)) return false;
  return !(result.hasText && expected.hasText) || haveSameText(result, expected, examine, meet);
}

/**
 * Bullets, their levels and the texts of the whole slide. OSWorld lets every slide pass on which a text element is
 * empty; the strict protocol compares it.
 */
function haveSameBullets(result: Slide, expected: Slide, { isStrict }: Examine): boolean {
  const [ours, theirs] = [bulletsOf(result.part), bulletsOf(expected.part)];
  if (!isStrict && (ours.hasEmpty || theirs.hasEmpty)) return true;
  const [left, right] = [ours, theirs].map(({ bullets }) => bullets.filter(({ text }) => strip(text) !== ''));
  return (
    left!.length === right!.length &&
    left!.every((a, index) => {
      const b = right![index]!;
      if (a.text !== b.text || a.letter !== b.letter) return false;
      return a.letter === null || (a.level ?? '0') === (b.level ?? '0');
    })
  );
}

/** A theme's colour behind a slide breaks OSWorld's comparison; for the strict protocol it is no colour. */
function backgroundOf(slide: Slide, { isStrict }: Examine): Rgb | null {
  const fill = slide.backgroundFill;
  const colour = fill && solidRgb(fill);
  if (fill !== null && colour === null && !isStrict) throw new Error('the background has no colour in RGB');
  return colour;
}

/** Notes without a place for text break OSWorld's comparison; for the strict protocol they say nothing. */
function notesOf(slide: Slide, { isStrict }: Examine): string {
  const { notes } = slide;
  if (notes === null && !isStrict) throw new Error('the notes have no place for text');
  return notes ?? '';
}

function once(work: () => boolean): () => boolean {
  let known: boolean | undefined;
  return () => {
    known ??= work();
    return known;
  };
}
