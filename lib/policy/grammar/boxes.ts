import { GrammarError } from './call.ts';
import type { Point } from './coordinates.ts';

/** Marks around a place that say nothing about where it is. */
const MARKS = /<\|(?:box|point)_(?:start|end)\|>|<\/?(?:point|bbox|box)>|[()[\]（）【】]/g;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Longer than any box; what is longer is not looked at. */
const MAX_LENGTH = 200;

/** A decimal number that is written out, or NaN. */
export function decimalOf(text: string): number {
  return text.length <= MAX_LENGTH && NUMBER.test(text) ? Number(text) : Number.NaN;
}

/**
 * A place as models write it → the point, or the centre of the box: `<|box_start|>(x,y)<|box_end|>`, `(x,y)`, `x y`,
 * `<point>x y</point>`, `<bbox>x1 y1 x2 y2</bbox>`, `[x1,y1,x2,y2]`, `(x1,y1),(x2,y2)`. Units are the policy's.
 * @throws GrammarError for anything else; a box is never guessed from three numbers, nor from one.
 */
export function placeOf(text: string, name: string): Point {
  const broken = () => new GrammarError(`${name} is not a point or a box: ${JSON.stringify(text.slice(0, 60))}`);
  if (text.length > MAX_LENGTH || !isBalanced(text)) throw broken();
  const numbers = text
    .replace(MARKS, ' ')
    .trim()
    .split(/\s*[,，]\s*|\s+/)
    .map(decimalOf);
  if (!numbers.every(Number.isFinite)) throw broken();
  const [x1, y1, x2, y2] = numbers;
  if (numbers.length === 2) return { x: x1!, y: y1! };
  if (numbers.length === 4) return { x: (x1! + x2!) / 2, y: (y1! + y2!) / 2 };
  throw broken();
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '（': '）', '【': '】' };

/** A box with a bracket missing was cut short or made up: its numbers are not to be trusted. */
function isBalanced(text: string): boolean {
  const open: string[] = [];
  for (const character of text) {
    const closing = CLOSING[character];
    if (closing !== undefined) open.push(closing);
    else if (Object.values(CLOSING).includes(character) && open.pop() !== character) return false;
  }
  return open.length === 0;
}
