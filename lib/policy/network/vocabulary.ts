import type { Action } from '../../stream/action.ts';
import { formatAction, parseReply } from '../grammar/index.ts';
import type { NetworkConfig } from './config.ts';
import { CELL, DEFAULT_CONFIG, gridOf } from './config.ts';
import { CHARACTERS, HOTKEYS, PLACED_VERBS, PLAIN_VERBS, TOKEN } from './tokens.ts';

const PLACED: Partial<Record<Action['type'], string>> = {
  click: 'click',
  double_click: 'left_double',
  right_click: 'right_single',
  drag: 'drag',
};

function cellToken(config: NetworkConfig, x: number, y: number): number | null {
  const { columns, rows } = gridOf(config);
  const [column, row] = [Math.floor(x / CELL), Math.floor(y / CELL)];
  if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
  return TOKEN.firstCell + row * columns + column;
}

function cellCentre(config: NetworkConfig, token: number): { x: number; y: number } {
  const { columns } = gridOf(config);
  const cell = token - TOKEN.firstCell;
  return { x: (cell % columns) * CELL + CELL / 2, y: Math.floor(cell / columns) * CELL + CELL / 2 };
}

function whole(ids: (number | null)[]): number[] | null {
  return ids.every((id) => id !== null && id >= 0) ? (ids as number[]) : null;
}

function placed(config: NetworkConfig, verb: string, points: [number, number][]): number[] | null {
  const verbs: readonly string[] = PLACED_VERBS;
  return whole([verbs.indexOf(verb), ...points.map(([x, y]) => cellToken(config, x, y))]);
}

/** At most `replyTokens` − 2 characters, besides a line break at the end. */
function typed(config: NetworkConfig, text: string): number[] | null {
  const enter = text.endsWith('\n');
  const body = enter ? text.slice(0, -1) : text;
  if (body.length > config.replyTokens - 2 || text.length === 0) return null;
  const characters = [...body.toLowerCase()].map((c) => {
    const at = CHARACTERS.indexOf(c);
    return at < 0 ? null : TOKEN.firstCharacter + at;
  });
  return whole([TOKEN.type, ...characters, enter ? TOKEN.newline : TOKEN.end]);
}

/**
 * The tokens of an action; points snap to their cell. Null where the vocabulary cannot say it: a key that it does not
 * have, text that is too long or holds other characters, a point off the screen.
 */
export function encodeAction(action: Action, config: NetworkConfig = DEFAULT_CONFIG): number[] | null {
  switch (action.type) {
    case 'click':
    case 'double_click':
    case 'right_click':
      return placed(config, PLACED[action.type]!, [[action.x, action.y]]);
    case 'drag':
      return placed(config, 'drag', [
        [action.x, action.y],
        [action.to_x, action.to_y],
      ]);
    case 'scroll': {
      if (action.direction !== 'up' && action.direction !== 'down') return null;
      const { width, height } = config.screen;
      return placed(config, `scroll_${action.direction}`, [[action.x ?? width / 2, action.y ?? height / 2]]);
    }
    case 'type':
      return typed(config, action.text);
    case 'hotkey': {
      const hotkeys: readonly string[] = HOTKEYS;
      const at = hotkeys.indexOf(action.keys.join(' '));
      return at < 0 ? null : [TOKEN.firstHotkey + at];
    }
    case 'wait':
    case 'finished':
    case 'fail':
      return [TOKEN.firstPlain + PLAIN_VERBS.indexOf(action.type)];
    default:
      return null;
  }
}

/** The tokens of a reply's first action, coordinates in absolute pixels; null where it cannot be said or read. */
export function encodeReply(text: string, config: NetworkConfig = DEFAULT_CONFIG): number[] | null {
  const { actions, parseError } = parseReply(text, { screen: config.screen, coordinates: 'absolute' });
  const [action] = actions;
  return parseError !== null || !action ? null : encodeAction(action, config);
}

/** The action that whole replies spell; null for any other ids. Coordinates are centres of cells. */
export function decodeAction(ids: readonly number[], config: NetworkConfig = DEFAULT_CONFIG): Action | null {
  const [first, ...rest] = ids;
  if (first === undefined) return null;
  if (first === TOKEN.type) return { type: 'type', text: rest.map(characterOf).join('') };
  if (first >= TOKEN.firstHotkey && first < TOKEN.type) {
    return { type: 'hotkey', keys: HOTKEYS[first - TOKEN.firstHotkey]!.split(' ') };
  }
  if (first >= TOKEN.firstPlain && first < TOKEN.firstHotkey) return { type: PLAIN_VERBS[first - TOKEN.firstPlain]! };
  const [from, to] = rest.map((token) => cellCentre(config, token));
  if (first >= TOKEN.firstPlain || !from) return null;
  return placedAction(PLACED_VERBS[first]!, from, to);
}

function characterOf(token: number): string {
  if (token === TOKEN.newline) return '\n';
  return CHARACTERS[token - TOKEN.firstCharacter] ?? '';
}

function placedAction(
  verb: (typeof PLACED_VERBS)[number],
  at: { x: number; y: number },
  to?: { x: number; y: number },
): Action | null {
  switch (verb) {
    case 'click':
      return { type: 'click', ...at };
    case 'left_double':
      return { type: 'double_click', ...at };
    case 'right_single':
      return { type: 'right_click', ...at };
    case 'drag':
      return to ? { type: 'drag', ...at, to_x: to.x, to_y: to.y } : null;
    default:
      return { type: 'scroll', ...at, direction: verb === 'scroll_up' ? 'up' : 'down' };
  }
}

/** UI-TARS text of whole replies: `Action: click(start_box='(52,36)')`. Ids that are no whole reply give ''. */
export function decodeReply(ids: readonly number[], config: NetworkConfig = DEFAULT_CONFIG): string {
  const action = decodeAction(ids, config);
  return action ? `Action: ${formatAction(action)}` : '';
}
