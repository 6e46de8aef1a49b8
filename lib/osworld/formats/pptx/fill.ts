import { childOf, type Element } from '../xml.ts';
import { A, P, type Part } from './package.ts';
import { type Rgb, required, rgb } from './values.ts';

const FILLS = ['noFill', 'solidFill', 'gradFill', 'blipFill', 'pattFill', 'grpFill'];
const COLOURS = ['scrgbClr', 'srgbClr', 'hslClr', 'sysClr', 'schemeClr', 'prstClr'];

/** What an element is filled with, by the name of its element; null where it does not say. */
export function fillOf(parent: Element): Element | null {
  return first(parent, FILLS);
}

/** The colour of a solid fill: red, green and blue where it is given so; null for a theme's colour and others. */
export function solidRgb(fill: Element): Rgb | null {
  const colour = first(fill, COLOURS);
  return colour?.localName === 'srgbClr' ? rgb(required(colour, 'val')) : null;
}

/** The colour that an element's solid fill gives; null where there is none in red, green and blue. */
export function fillRgb(parent: Element): Rgb | null {
  const fill = fillOf(parent);
  return fill?.localName === 'solidFill' ? solidRgb(fill) : null;
}

/**
 * The fill of a slide's or a master's own background. As python-pptx has it, a background that is missing, or that only
 * refers to the theme, counts as `noFill`; null is a background that says nothing of a fill.
 */
export function backgroundOf(part: Part): { kind: string; fill: Element | null } | null {
  const slide = childOf(part.root, P, 'cSld');
  if (slide === undefined) throw new Error(`${part.path} has no cSld`);
  const background = childOf(slide, P, 'bg');
  const properties = background && childOf(background, P, 'bgPr');
  if (properties === undefined) return { kind: 'noFill', fill: null };
  const fill = fillOf(properties);
  return fill && { kind: fill.localName!, fill };
}

function first(parent: Element, names: string[]): Element | null {
  for (const name of names) {
    const child = childOf(parent, A, name);
    if (child !== undefined) return child;
  }
  return null;
}
