import type { AccessibleNode, Action, Size } from '../guest/guest.ts';
import type { Random } from '../stream/random.ts';

/** The grid whose cell centres random clicks go to; on the embedded desktop its cells are the desktop's own. */
const COLUMNS = 20;
const ROWS = 15;

const KEYS = [
  ['enter'],
  ['esc'],
  ['tab'],
  ['backspace'],
  ['down'],
  ['ctrl', 's'],
  ['ctrl', 'a'],
  ['ctrl', 'z'],
] as const;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DIRECTIONS = ['up', 'down', 'left', 'right'] as const;

/** Shares of the kinds of action; the few that end an episode are rare, so that it can still recover. */
const SHARES: readonly (readonly [number, (random: Random, at: () => { x: number; y: number }) => Action])[] = [
  [70, (_, at) => ({ type: 'click', ...at() })],
  [5, (_, at) => ({ type: 'double_click', ...at() })],
  [4, (_, at) => ({ type: 'right_click', ...at() })],
  [6, (random, at) => ({ type: 'scroll', ...at(), direction: random.pick(DIRECTIONS) })],
  [5, (random) => ({ type: 'type', text: word(random) })],
  [5, (random) => ({ type: 'hotkey', keys: [...random.pick(KEYS)] })],
  [3, () => ({ type: 'wait' })],
  [1.5, () => ({ type: 'finished' })],
  [0.5, () => ({ type: 'fail' })],
];
const TOTAL = SHARES.reduce((sum, [share]) => sum + share, 0);

/**
 * One random action: mostly clicks, half of them on some widget of `tree` where one is given, the others on the centre
 * of a random cell.
 */
export function randomAction(random: Random, screen: Size, tree: AccessibleNode | null = null): Action {
  const at = () => (tree !== null && random.next() < 0.5 ? onWidget(random, tree) : null) ?? onCell(random, screen);
  let left = random.next() * TOTAL;
  for (const [share, make] of SHARES) {
    left -= share;
    if (left < 0) return make(random, at);
  }
  return { type: 'wait' };
}

function onCell(random: Random, screen: Size): { x: number; y: number } {
  return {
    x: Math.floor(((random.int(COLUMNS) + 0.5) * screen.width) / COLUMNS),
    y: Math.floor(((random.int(ROWS) + 0.5) * screen.height) / ROWS),
  };
}

function onWidget(random: Random, tree: AccessibleNode): { x: number; y: number } | null {
  const places = leaves(tree).flatMap(({ bounds, states }) => (bounds && states.includes('showing') ? [bounds] : []));
  if (places.length === 0) return null;
  const { x, y, width, height } = random.pick(places);
  return { x: Math.floor(x + width / 2), y: Math.floor(y + height / 2) };
}

function leaves(node: AccessibleNode): AccessibleNode[] {
  return node.children.length === 0 ? [node] : node.children.flatMap(leaves);
}

function word(random: Random): string {
  return Array.from({ length: 1 + random.int(6) }, () => LETTERS[random.int(LETTERS.length)]).join('');
}
