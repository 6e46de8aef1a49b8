import { type Cells, DECO } from './cells.ts';
import { iconId } from './font.ts';
import type { Widget } from './widget.ts';

/** Draws one widget into the cells. */
export function paintWidget(cells: Cells, widget: Widget): void {
  const { x, y, w, h } = widget;
  if (h === 0) return;
  if (widget.canvas) {
    cells.image(x, y, widget.canvas);
    return;
  }
  cells.fill(x, y, w, h, widget.bg, widget.deco ?? 0);
  const icon = iconId(widget.icon);
  const indent = icon > 0 ? 1 : 0;
  const label = widget.label ?? widget.name;
  if (label !== '') cells.text(x + indent, y, w - indent, label, widget.fg, widget.deco ?? 0);
  if (icon > 0) cells.icon(x, y, icon, widget.iconFg ?? widget.fg);
  if (widget.edges) paintEdges(cells, widget);
  if (widget.caret !== undefined) paintCaret(cells, widget, widget.caret);
}

function paintEdges(cells: Cells, { x, y, w, h }: Widget): void {
  for (let i = 0; i < w; i++) cells.decorate(x + i, y + h - 1, DECO.bottom);
  for (let i = 0; i < h; i++) cells.decorate(x + w - 1, y + i, DECO.right);
}

function paintCaret(cells: Cells, widget: Widget, caret: number): void {
  const column = Math.min(widget.w - 1, caret >> 1);
  cells.decorate(widget.x + column, widget.y, caret % 2 === 0 ? DECO.caret1 : DECO.caret2);
}
