import type { Canvas } from '../screen/cells.ts';
import type { IconName } from '../screen/font.ts';

/** One entry of a menu. */
export interface MenuItem {
  name: string;
  run: () => void;
}

/**
 * A thing on the screen: what is drawn, what is in the accessibility tree and what answers the mouse are the same list of
 * these. Places are whole cells of the screen.
 */
export interface Widget {
  /** AT-SPI role with hyphens. */
  role: string;
  name: string;
  x: number;
  y: number;
  w: number;
  h: number;
  /** Palette indices. */
  bg: number;
  fg: number;
  /** Shown text; the name when absent. */
  label?: string;
  icon?: IconName;
  iconFg?: number;
  /** Decoration of every cell (CELLS.DECO); buttons have their edges by role. */
  deco?: number;
  /** Lines at the bottom and at the right end. */
  edges?: boolean;
  /** Accessible text: what an entry or a cell holds. */
  text?: string;
  checked?: boolean;
  selected?: boolean;
  focused?: boolean;
  field?: Focusable;
  /** Place of a caret within `label`, in characters. */
  caret?: number;
  canvas?: Canvas;
  /** Left button. `column` counts cells from the left end of the widget. */
  click?: (column: number) => void;
  double?: () => void;
  middle?: () => void;
  /** Selects what is under the pointer and returns the context menu. */
  menu?: () => MenuItem[];
  /** Sets a slider to a column of it. */
  slide?: (column: number) => void;
  /** Leaves the focus where it is when clicked (tool bars of an editor). */
  keepsFocus?: boolean;
  /** Not in the accessibility tree: backgrounds. */
  hidden?: boolean;
  /** Drawn only: the mouse reaches what is below. */
  decor?: boolean;
}

/** What typed text and editing keys go to. */
export interface TextTarget {
  /** Characters without line ends. */
  insert(text: string): void;
  /** True when the key meant something here. `combo` is normalised: `ctrl+a`, `left`, `f2`. */
  key(combo: string, clipboard: Clipboard): boolean;
  /** Another thing gets the focus. */
  blur?(): void;
}

/** A widget that takes the focus when it is clicked. */
export interface Focusable extends TextTarget {
  clicked(hadFocus: boolean): void;
}

export interface Clipboard {
  text: string;
}
