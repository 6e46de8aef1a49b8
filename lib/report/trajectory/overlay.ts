import { type Action, WHEEL_CLICKS } from '../../stream/action.ts';
import type { Screenshot } from '../../stream/records.ts';
import { type Html, html } from './html.ts';
import { shownText } from './words.ts';

interface Point {
  x: number;
  y: number;
}

/** Sizes are parts of the screen, so that a mark looks alike on 160 and on 1920 pixels. */
const UNIT = 1 / 100;
const RINGS: Partial<Record<Action['type'], number>> = { double_click: 2, triple_click: 3 };
const LETTERS: Partial<Record<Action['type'], string>> = { right_click: 'R', middle_click: 'M' };

/** The marks of a step's actions as SVG, in pixels of its screenshot: rings for clicks, arrows for drags and scrolls. */
export function actionMarks(actions: readonly Action[], { width, height }: Screenshot): Html {
  const screen = { width, unit: Math.max(width, height, 1) * UNIT, centre: { x: width / 2, y: height / 2 } };
  const placed = actions.map((action, index) => mark(action, screen, actions.length > 1 ? index + 1 : null));
  return html`<g class="marks">${placed.filter((item) => item !== null)}</g>`;
}

interface Screen {
  width: number;
  /** A hundredth of the longer side. */
  unit: number;
  centre: Point;
}

function mark(action: Action, screen: Screen, number: number | null): Html | null {
  const { unit, centre } = screen;
  switch (action.type) {
    case 'click':
    case 'double_click':
    case 'triple_click':
    case 'right_click':
    case 'middle_click':
      return html`<g>${rings(action, unit, RINGS[action.type] ?? 1)}${dot(action, unit)}${label(LETTERS[action.type] ?? null, number, action, screen)}</g>`;
    case 'move':
      return html`<g>${cross(action, unit)}${label(null, number, action, screen)}</g>`;
    case 'drag': {
      const to = { x: action.to_x, y: action.to_y };
      return html`<g>${rings(action, unit, 1)}${arrow(action, to, unit)}${label(null, number, action, screen)}</g>`;
    }
    case 'scroll': {
      const from = { x: action.x ?? centre.x, y: action.y ?? centre.y };
      const to = shifted(from, action.direction, unit * 8);
      return html`<g>${dot(from, unit)}${arrow(from, to, unit)}${label(`×${action.amount ?? WHEEL_CLICKS}`, number, from, screen)}</g>`;
    }
    default:
      return null;
  }
}

function rings({ x, y }: Point, unit: number, count: number): Html[] {
  return Array.from({ length: count }, (_, index) => {
    const radius = rounded(unit * (1.4 + 0.9 * index));
    return html`<circle class="halo" cx="${x}" cy="${y}" r="${radius}"/><circle class="ring" cx="${x}" cy="${y}" r="${radius}"/>`;
  });
}

function dot({ x, y }: Point, unit: number): Html {
  return html`<circle class="dot" cx="${x}" cy="${y}" r="${rounded(unit * 0.35)}"/>`;
}

function cross({ x, y }: Point, unit: number): Html {
  const arm = rounded(unit * 1.2);
  const path = `M${x - arm} ${y}h${2 * arm}M${x} ${y - arm}v${2 * arm}`;
  return html`<path class="halo" d="${path}"/><path class="ring" d="${path}"/>`;
}

/** A line with a head of two strokes. */
function arrow(from: Point, to: Point, unit: number): Html {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const barb = (turn: number) => {
    const x = rounded(to.x - 1.8 * unit * Math.cos(angle + turn));
    const y = rounded(to.y - 1.8 * unit * Math.sin(angle + turn));
    return `${x} ${y}`;
  };
  const path = `M${rounded(from.x)} ${rounded(from.y)}L${rounded(to.x)} ${rounded(to.y)}M${barb(0.5)}L${rounded(to.x)} ${rounded(to.y)}L${barb(-0.5)}`;
  return html`<path class="halo" d="${path}"/><path class="ring" d="${path}"/>`;
}

/** Which button, how many wheel clicks, and which action of several it is; beside the point, inside the screen. */
function label(what: string | null, number: number | null, { x, y }: Point, { width, unit }: Screen): Html | null {
  const text = [number, what].filter((part) => part !== null).join(' ');
  if (text === '') return null;
  const before = x > width - unit * 8;
  const base = rounded(y < unit * 4 ? y + unit * 3.4 : y - unit * 1.6);
  return html`<text class="tag" x="${rounded(x + unit * (before ? -2 : 2))}" y="${base}" text-anchor="${before ? 'end' : 'start'}" font-size="${rounded(unit * 2.2)}" stroke-width="${rounded(unit * 0.5)}">${text}</text>`;
}

function shifted({ x, y }: Point, direction: string, by: number): Point {
  if (direction === 'up' || direction === 'down') return { x, y: y + (direction === 'up' ? -by : by) };
  return { x: x + (direction === 'left' ? -by : by), y };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** What has no place on the screen, as chips over its lower edge: typed text, keys, the end of the episode. */
export function actionChips(actions: readonly Action[]): Html | null {
  const chips = actions.map(chip).filter((item) => item !== null);
  return chips.length === 0 ? null : html`<div class="chips" aria-hidden="true">${chips}</div>`;
}

function chip(action: Action): Html | null {
  switch (action.type) {
    case 'type':
      return html`<span class="chip">⌨ ${shownText(action.text)}</span>`;
    case 'hotkey':
      return html`<span class="chip">${action.keys.map((key) => html`<kbd>${key}</kbd>`)}</span>`;
    case 'key_down':
    case 'key_up':
      return html`<span class="chip"><kbd>${action.key}</kbd> ${action.type === 'key_down' ? 'down' : 'up'}</span>`;
    case 'mouse_down':
    case 'mouse_up':
      return html`<span class="chip">${action.button} button ${action.type === 'mouse_down' ? 'down' : 'up'}</span>`;
    case 'wait':
      return html`<span class="chip">⏱ wait</span>`;
    case 'finished':
      return html`<span class="chip done">✓ finished</span>`;
    case 'fail':
      return html`<span class="chip lost">✗ fail</span>`;
    default:
      return null;
  }
}
