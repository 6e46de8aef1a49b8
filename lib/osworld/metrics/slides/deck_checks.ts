import { P } from '../../formats/pptx/package.ts';
import { Presentation } from '../../formats/pptx/presentation.ts';
import { EMU_PER_INCH } from '../../formats/pptx/values.ts';
import { descendantsOf, type Element, parseXml } from '../../formats/xml.ts';
import { ZipArchive } from '../../formats/zip.ts';
import type { MetricInput } from '../../kinds.ts';
import { resultFile, rulesOf } from '../input.ts';
import { isSamePresentation } from './compare.ts';
import { agentsWork, scoreDeck, scoreDecks } from './decks.ts';
import { examineOf } from './examine.ts';

/** How far a picture may be from filling the slide, EMU. */
const SLACK = EMU_PER_INCH / 2;

/** 1 when two presentations agree in all that the `examine_…` options name. */
export function comparePresentations(input: MetricInput): number {
  const examine = examineOf(input);
  return scoreDecks(input, (result, expected) => Number(isSamePresentation(result, expected, examine)));
}

/** 1 when slides stand upright. */
export function checkPortrait(input: MetricInput): number {
  return scoreDeck(input, ({ slideWidth, slideHeight }) =>
    Number(slideWidth !== null && slideHeight !== null && slideWidth < slideHeight),
  );
}

/** 1 when the first picture of the first slide of the expected presentation fills the slide, and stands in its middle. */
export function checkStretchedImage(input: MetricInput): number {
  return scoreDecks(input, (result, expected) => {
    const pictures = (deck: Presentation) => slideAt(deck, 0).shapes.filter(({ kind }) => kind === 'picture');
    const [before] = pictures(expected);
    const now = pictures(result);
    if (before === undefined) throw new Error('its first slide has no picture');
    const image = Buffer.from(before.image);
    const picture = now.findLast((candidate) => image.equals(candidate.image));
    if (picture === undefined) return 0;
    const [width, height] = [known(expected.slideWidth), known(expected.slideHeight)];
    const offsets = [
      known(picture.width) - width,
      known(picture.height) - height,
      known(picture.left) - (width - known(picture.width)) / 2,
      known(picture.top) - (height - known(picture.height)) / 2,
    ];
    return Number(offsets.every((offset) => Math.abs(offset) <= SLACK));
  });
}

/**
 * 1 when the first run of each named paragraph (`slide_index_s`, `shape_index_s`, `paragraph_index_s`, from 0) is struck
 * through. OSWorld is content with any word on it, even `noStrike`; the strict protocol is not.
 */
export function checkStrikethrough(input: MetricInput): number {
  const rules = rulesOf(input);
  const [slides, shapes, paragraphs] = ['slide_index_s', 'shape_index_s', 'paragraph_index_s'].map((name) =>
    rules.list(name).map(Number),
  );
  return scoreDeck(input, (deck) => {
    const runs = slides!
      .flatMap((slide) => shapes!.map((shape) => slideAt(deck, slide).shapes.at(shape)))
      .flatMap((shape) => paragraphs!.map((paragraph) => shape?.hasText && shape.paragraphs.at(paragraph)?.runs[0]));
    return Number(
      runs.every((run) => {
        const strike = (run || null)?.strike ?? null;
        return strike !== null && !(input.fidelity === 'strict' && strike === 'noStrike');
      }),
    );
  });
}

/**
 * 1 when slide `slide_idx` (from 0) comes with a transition of `transition_type`. OSWorld takes the slide's file by its
 * number; the strict protocol the slide that is shown at that place.
 */
export function checkTransition(input: MetricInput): number {
  const rules = rulesOf(input);
  const index = rules.number('slide_idx');
  const type = rules.text('transition_type');
  const file = resultFile(input);
  if (file === null) return 0;
  return agentsWork(() => {
    const slide =
      input.fidelity === 'strict'
        ? slideAt(new Presentation(file.bytes), index).part.root
        : slideFile(file.bytes, index);
    const [transition] = descendantsOf(slide, P, 'transition');
    return Number(transition !== undefined && descendantsOf(transition, P, type).length > 0);
  });
}

function slideFile(bytes: Uint8Array, index: number): Element {
  return parseXml(new ZipArchive(bytes).part(`ppt/slides/slide${index + 1}.xml`));
}

function slideAt(deck: Presentation, index: number) {
  const slide = deck.slides.at(index);
  if (slide === undefined) throw new Error(`the presentation has no slide ${index}`);
  return slide;
}

function known(value: number | null): number {
  if (value === null) throw new Error('a size or a place is not given');
  return value;
}
