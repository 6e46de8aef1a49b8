import { CELL, COLUMNS, ROWS } from '../screen/cells.ts';
import type { Widget } from '../ui/widget.ts';
import { popupPlace } from './dock.ts';
import type { Layer } from './layers.ts';
import { hitTest, type Session } from './session.ts';

export type Button = 'left' | 'middle' | 'right';

function cellOf(pixel: number, cells: number): number {
  return Math.max(0, Math.min(cells - 1, Math.floor(pixel / CELL)));
}

/** What the mouse does. Layers are those of the screen that the user sees. */
export function press(
  session: Session,
  layers: Layer[],
  pixelX: number,
  pixelY: number,
  button: Button,
  count = 1,
): void {
  const x = cellOf(pixelX, COLUMNS);
  const y = cellOf(pixelY, ROWS);
  const hit = hitTest(layers, x, y);
  if (session.popup) {
    if (hit && button === 'left') hit.widget.click?.(x - hit.widget.x);
    else session.popup = null;
    return;
  }
  if (!hit) return;
  if (hit.layer.kind === 'window' && hit.layer.window !== session.top) {
    // A click on a window behind brings it to the front and does nothing else.
    if (hit.layer.window) session.raise(hit.layer.window);
    return;
  }
  moveFocus(session, hit.layer, hit.widget, button);
  if (button === 'right') openContextMenu(session, hit.layer, hit.widget, x, y);
  else if (button === 'middle') hit.widget.middle?.();
  else if (count > 1 && hit.widget.double) hit.widget.double();
  else hit.widget.click?.(x - hit.widget.x);
}

/** Presses at one point, releases at another: sets sliders; elsewhere it is a click on the first point. */
export function drag(
  session: Session,
  layers: Layer[],
  from: { x: number; y: number },
  to: { x: number; y: number },
): void {
  const hit = hitTest(layers, cellOf(from.x, COLUMNS), cellOf(from.y, ROWS));
  const behind = hit?.layer.kind === 'window' && hit.layer.window !== session.top;
  const slide = session.popup || behind ? undefined : hit?.widget.slide;
  if (!hit || !slide) {
    press(session, layers, from.x, from.y, 'left');
    return;
  }
  slide(Math.max(0, Math.min(hit.widget.w - 1, cellOf(to.x, COLUMNS) - hit.widget.x)));
}

function moveFocus(session: Session, layer: Layer, widget: Widget, button: Button): void {
  if (widget.keepsFocus) return;
  const owner = layer.kind === 'dialog' ? session.dialog : layer.window?.app;
  if (!owner) return;
  const had = owner.focus === (widget.field ?? null);
  if (!had) {
    const old = owner.focus;
    owner.focus = widget.field ?? null;
    old?.blur?.();
  }
  if (button === 'left') widget.field?.clicked(had);
}

function openContextMenu(session: Session, layer: Layer, widget: Widget, x: number, y: number): void {
  const items = widget.menu?.() ?? (widget.hidden ? (layer.window?.app.emptyMenu() ?? []) : []);
  const place = popupPlace(x, y);
  session.showPopup(place.x, place.y, items);
}
