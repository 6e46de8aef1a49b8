import { DECO } from '../screen/cells.ts';
import { C } from '../screen/palette.ts';
import type { Field } from './field.ts';
import type { MenuItem, TextTarget, Widget } from './widget.ts';

/** A menu bar's menus: name and what it holds. */
export interface MenuSpec {
  name: string;
  items: () => MenuItem[];
}

type Extra = Partial<Widget>;

/** What a view needs of its surroundings. */
export interface UiHost {
  /** Name of the open menu of this window, if any. */
  openMenu: string | null;
  focus: TextTarget | null;
  showPopup(x: number, y: number, items: MenuItem[], menu: string | null): void;
}

/** Builds a window's widgets. Places are cells relative to the window's top left corner. */
export class Ui {
  readonly widgets: Widget[] = [];
  private readonly x0: number;
  private readonly y0: number;
  private readonly host: UiHost;

  constructor(x0: number, y0: number, host: UiHost) {
    this.x0 = x0;
    this.y0 = y0;
    this.host = host;
  }

  /** Whether typed text goes here. */
  isFocused(target: TextTarget): boolean {
    return this.host.focus === target;
  }

  add(role: string, x: number, y: number, w: number, name: string, extra: Extra): Widget {
    const widget: Widget = { role, name, x: this.x0 + x, y: this.y0 + y, w, h: 1, bg: C.window, fg: C.black, ...extra };
    this.widgets.push(widget);
    return widget;
  }

  label(x: number, y: number, w: number, text: string, extra: Extra = {}): Widget {
    return this.add('label', x, y, w, text, { ...extra });
  }

  button(x: number, y: number, w: number, name: string, click: () => void, extra: Extra = {}): Widget {
    return this.add('push-button', x, y, w, name, { bg: C.button, edges: true, click, ...extra });
  }

  toggle(x: number, y: number, w: number, name: string, on: boolean, click: () => void, extra: Extra = {}): Widget {
    const bg = on ? C.toggleOn : C.button;
    return this.add('toggle-button', x, y, w, name, { bg, edges: true, checked: on, click, ...extra });
  }

  check(x: number, y: number, w: number, name: string, on: boolean, click: () => void): Widget {
    const icon = on ? 'tick' : 'box';
    return this.add('check-box', x, y, w, name, {
      icon,
      iconFg: on ? C.checkOn : C.line,
      checked: on,
      click,
      bg: on ? C.popup : C.row,
    });
  }

  radio(x: number, y: number, w: number, name: string, on: boolean, click: () => void): Widget {
    const icon = on ? 'dot' : 'ring';
    return this.add('radio-button', x, y, w, name, {
      icon,
      iconFg: on ? C.checkOn : C.line,
      checked: on,
      click,
      bg: on ? C.popup : C.row,
    });
  }

  entry(x: number, y: number, w: number, name: string, field: Field, extra: Extra = {}): Widget {
    const focused = this.host.focus === field;
    const bg = focused ? (field.allSelected ? C.fieldSelected : C.fieldFocus) : C.field;
    const room = w * 2 - 1;
    const from = Math.max(0, (focused ? field.caret : 0) - room);
    const caret = focused && !field.allSelected ? field.caret - from : undefined;
    return this.add('entry', x, y, w, name, {
      bg,
      label: field.text.slice(from, from + room + 1),
      text: field.text,
      focused,
      field,
      caret,
      deco: DECO.bottom,
      ...extra,
    });
  }

  /** One row of a list. */
  item(x: number, y: number, w: number, name: string, selected: boolean, click: () => void, extra: Extra = {}): Widget {
    const bg = selected ? C.rowSelected : (extra.bg ?? C.row);
    return this.add('list-item', x, y, w, name, {
      ...extra,
      bg,
      selected,
      click,
      deco: (extra.deco ?? 0) | DECO.bottom,
    });
  }

  /**
   * The rows of a scrolled list: `row` makes the widget of one item at its place. Items scrolled away stay in the
   * accessibility tree, in order, without a place.
   */
  list<T>(items: readonly T[], offset: number, shown: number, row: (item: T, row: number) => Widget): void {
    items.forEach((item, index) => {
      const place = index - offset;
      const widget = row(item, place);
      if (place < 0 || place >= shown) widget.h = 0;
    });
  }

  /** A row of menus; a click opens one below its name. */
  menuBar(y: number, menus: MenuSpec[]): void {
    this.fill(0, y, 15, 1, C.menuBar);
    let x = 0;
    for (const { name, items } of menus) {
      const w = Math.ceil((name.length + 1) / 2);
      this.menuButton(x, y, w, name, items);
      x += w;
    }
  }

  /** A button that opens a menu. */
  menuButton(x: number, y: number, w: number, name: string, items: () => MenuItem[], extra: Extra = {}): void {
    const bg = this.host.openMenu === name ? C.menuOpen : C.menuBar;
    const click = () => this.host.showPopup(this.x0 + x, this.y0 + y + 1, items(), name);
    this.add('menu', x, y, w, name, { bg, edges: true, click, keepsFocus: true, ...extra });
  }

  /** A plain area that takes part in hit-testing but is no widget. */
  fill(x: number, y: number, w: number, h: number, bg: number, extra: Extra = {}): Widget {
    return this.add('filler', x, y, w, '', { h, bg, hidden: true, label: '', ...extra });
  }

  /** One row that is only drawn, over another widget. */
  draw(x: number, y: number, w: number, label: string, extra: Extra): void {
    this.add('filler', x, y, w, '', { hidden: true, decor: true, label, ...extra });
  }

  /** A row of cells filled up to `value` (a cell); a click or a drag sets it. */
  slider(
    x: number,
    y: number,
    w: number,
    name: string,
    value: number,
    text: string,
    set: (column: number) => void,
  ): void {
    const full = Math.round(value);
    this.add('slider', x, y, w, name, { bg: C.field, label: '', text, click: set, slide: set });
    for (let i = 0; i < w; i++) {
      const bg = i <= full ? C.toggleOn : C.field;
      this.draw(x + i, y, 1, '', { bg, icon: i === full ? 'dot' : undefined, edges: true });
    }
  }
}
