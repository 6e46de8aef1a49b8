import type { Widget } from '../ui/widget.ts';
import { type Cells, DECO } from './cells.ts';
import { iconId } from './font.ts';
import { C } from './palette.ts';

/** Draws one widget into the cells. */
export function paintWidget(cells: Cells, widget: Widget): void {
  const { x, y, w, h } = widget;
  if (h === 0) return;
  if (widget.canvas) {
    cells.image(x, y, widget.canvas);
    return;
  }
  cells.fill(x, y, w, h, widget.bg, (widget.deco ?? 0) & ~DECO.bold);
  const icon = iconId(widget.icon);
  const indent = icon > 0 ? 1 : 0;
  const label = shownText(widget);
  if (label !== '') cells.text(x + indent, y, w - indent, label, textColour(widget), widget.deco ?? 0);
  if (icon > 0) cells.icon(x, y, icon, widget.iconFg ?? widget.fg);
  if (widget.edges) paintEdges(cells, widget);
  if (widget.role === 'menu-item') cells.decorate(x, y, DECO.left);
  if (widget.caret !== undefined) paintCaret(cells, widget, widget.caret);
}

/** Roles whose text is the user's own: it keeps its case. Names of controls are all in small capitals. */
const CONTENT = new Set(['paragraph', 'table-cell', 'entry', 'list-item', 'terminal', 'filler']);

/** Roles whose text stands a character away from the edge. */
const PADDED = new Set(['push-button', 'toggle-button', 'menu', 'menu-item']);

function shownText({ role, label, name, w, icon }: Widget): string {
  const text = label ?? name;
  if (text === '' || CONTENT.has(role)) return text;
  const pad = PADDED.has(role) && !icon && text.length < w * 2 ? ' ' : '';
  return pad + text.toLowerCase();
}

/** Three pixels leave no room for a thicker letter: bold is another colour, underlined. */
function textColour(widget: Widget): number {
  return widget.deco !== undefined && widget.deco & DECO.bold ? C.link : widget.fg;
}

function paintEdges(cells: Cells, { x, y, w, h }: Widget): void {
  for (let i = 0; i < w; i++) cells.decorate(x + i, y + h - 1, DECO.bottom);
  for (let i = 0; i < h; i++) cells.decorate(x + w - 1, y + i, DECO.right);
}

function paintCaret(cells: Cells, widget: Widget, caret: number): void {
  const column = Math.min(widget.w - 1, caret >> 1);
  cells.decorate(widget.x + column, widget.y, caret % 2 === 0 ? DECO.caret1 : DECO.caret2);
}
