import type { Clipboard, Focusable } from './widget.ts';

/** One line of editable text with a caret and an all-or-nothing selection. */
export class Field implements Focusable {
  text: string;
  caret: number;
  allSelected = false;
  /** Enter. Without it enter goes on to the dialog or the application. */
  onEnter: (() => void) | undefined;
  /** After each change of the text. */
  onChange: (() => void) | undefined;
  onBlur: (() => void) | undefined;
  private undo: string[] = [];

  constructor(text = '', hooks: { onEnter?: () => void; onChange?: () => void; onBlur?: () => void } = {}) {
    this.text = text;
    this.caret = text.length;
    this.onEnter = hooks.onEnter;
    this.onChange = hooks.onChange;
    this.onBlur = hooks.onBlur;
  }

  /** Sets the text without a trace: no undo, no change event. */
  set(text: string): void {
    this.text = text;
    this.caret = text.length;
    this.allSelected = false;
    this.undo = [];
  }

  /** A click: the first selects all, the next puts the caret at the end. */
  clicked(hadFocus: boolean): void {
    this.allSelected = !(hadFocus && this.allSelected) && this.text !== '';
    this.caret = this.text.length;
  }

  insert(text: string): void {
    const kept = this.allSelected ? '' : this.text;
    const at = this.allSelected ? 0 : this.caret;
    this.change(kept.slice(0, at) + text + kept.slice(at), at + text.length);
  }

  key(combo: string, clipboard: Clipboard): boolean {
    if (combo === 'enter') {
      if (!this.onEnter) return false;
      this.onEnter();
      return true;
    }
    return this.caretKey(combo) || this.deletionKey(combo) || this.clipboardKey(combo, clipboard);
  }

  blur(): void {
    this.allSelected = false;
    this.onBlur?.();
  }

  private caretKey(combo: string): boolean {
    const moves: Record<string, number> = {
      left: this.allSelected ? 0 : this.caret - 1,
      right: this.allSelected ? this.text.length : this.caret + 1,
      home: 0,
      end: this.text.length,
    };
    const to = moves[combo];
    if (to === undefined) return false;
    this.caret = Math.min(Math.max(to, 0), this.text.length);
    this.allSelected = false;
    return true;
  }

  private deletionKey(combo: string): boolean {
    if (combo !== 'backspace' && combo !== 'delete') return false;
    if (this.allSelected) {
      this.change('', 0);
      return true;
    }
    const from = combo === 'backspace' ? this.caret - 1 : this.caret;
    if (from < 0 || from >= this.text.length) return true;
    this.change(this.text.slice(0, from) + this.text.slice(from + 1), from);
    return true;
  }

  private clipboardKey(combo: string, clipboard: Clipboard): boolean {
    if (combo === 'ctrl+a') this.allSelected = this.text !== '';
    else if (combo === 'ctrl+c' || combo === 'ctrl+x') {
      if (!this.allSelected) return false;
      clipboard.text = this.text;
      if (combo === 'ctrl+x') this.change('', 0);
    } else if (combo === 'ctrl+v') this.insert(clipboard.text.replaceAll('\n', ' '));
    else if (combo === 'ctrl+z') {
      const before = this.undo.pop();
      if (before === undefined) return true;
      this.text = before;
      this.caret = before.length;
      this.allSelected = false;
      this.onChange?.();
    } else return false;
    return true;
  }

  private change(text: string, caret: number): void {
    // A field is a few words long: a cap keeps a policy that only types from filling the memory.
    if (text.length > 200) return;
    this.undo.push(this.text);
    if (this.undo.length > 50) this.undo.shift();
    this.text = text;
    this.caret = caret;
    this.allSelected = false;
    this.onChange?.();
  }
}
