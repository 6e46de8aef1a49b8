import { A, P } from '../../formats/pptx/package.ts';
import { Presentation } from '../../formats/pptx/presentation.ts';
import type { Rgb } from '../../formats/pptx/values.ts';
import { attributeOf, descendantsOf, type Element, parseXml } from '../../formats/xml.ts';
import { ZipArchive } from '../../formats/zip.ts';
import type { MetricInput } from '../../kinds.ts';
import { resultFile, rulesOf } from '../input.ts';
import { stripStart } from '../sheets/python.ts';
import { numbersOn } from './colours.ts';
import { agentsWork } from './decks.ts';

const MASTER = 'ppt/slideMasters/slideMaster1.xml';
/** How much one part of a colour must exceed the others to give it its name; below it all of black's must stay. */
const MARGIN = 50;

const COLOURS: Record<string, (colour: Rgb) => boolean> = {
  red: ([red, green, blue]) => red > green + MARGIN && red > blue + MARGIN,
  green: ([red, green, blue]) => green > red + MARGIN && green > blue + MARGIN,
  blue: ([red, green, blue]) => blue > green + MARGIN && blue > red + MARGIN,
  black: (colour) => colour.every((part) => part < MARGIN),
};

/**
 * 1 when the slides' numbers are `red`, `green`, `blue` or `black` on the first master. OSWorld takes the last colour
 * of any text there that is not black for theirs, and lets every other colour's name pass: the strict protocol looks at
 * the number alone, and calls such a name an error of the task.
 */
export function checkPageNumbers(input: MetricInput): number {
  const rules = rulesOf(input);
  const name = rules.text('color');
  const isStrict = input.fidelity === 'strict';
  if (isStrict && !(name in COLOURS)) throw rules.wrong('color', `one of ${Object.keys(COLOURS).join(', ')}`);
  const file = resultFile(input);
  if (file === null) return 0;
  return agentsWork(() => {
    const colour = rgbOf(
      isStrict ? numberColour(file.bytes) : lastColour(parseXml(new ZipArchive(file.bytes).part(MASTER))),
    );
    return Number(colour !== null && (COLOURS[name]?.(colour) ?? true));
  });
}

/** The colour of the number's own text. */
function numberColour(bytes: Uint8Array): string | undefined {
  const [master] = new Presentation(bytes).masters;
  const [number] = master ? numbersOn(master) : [];
  return number && coloursIn(number, 'rPr', 'solidFill')[0];
}

/** Where OSWorld looks: in the marks of placeholders, the looks of texts, every fill, in that order. */
function lastColour(root: Element): string | undefined {
  const marks = descendantsOf(root, P, 'ph');
  const kinds = ['sldNum', 'ftr', 'dt'];
  const ofNumber = marks.filter((mark) => attributeOf(mark, 'type') === 'sldNum').slice(0, 1);
  const ofOthers = marks.filter((mark) => kinds.includes(attributeOf(mark, 'type') ?? ''));
  const marked = [...ofNumber, ...ofOthers].flatMap((mark) => coloursIn(mark, 'solidFill').slice(0, 1))[0];
  if (marked !== undefined) return marked;
  const fills = coloursIn(root, 'solidFill');
  const isSeen = (value: string | undefined) => value !== undefined && value !== '' && value !== '000000';
  return coloursIn(root, 'rPr', 'solidFill').findLast(isSeen) ?? fills.findLast(isSeen) ?? fills.at(-1);
}

/** Values of the colours below, each inside elements of the given names. */
function coloursIn(root: Element, ...names: string[]): (string | undefined)[] {
  const inside = names.reduce((elements, name) => elements.flatMap((at) => descendantsOf(at, A, name)), [root]);
  return inside.flatMap((element) => descendantsOf(element, A, 'srgbClr')).map((colour) => attributeOf(colour, 'val'));
}

function rgbOf(text: string | undefined): Rgb | null {
  const digits = text === undefined ? '' : stripStart(text, '#');
  if (!/^[0-9a-fA-F]{6}$/.test(digits)) return null;
  return [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) as Rgb;
}
