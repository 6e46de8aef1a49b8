import type { TextTarget } from '../ui/widget.ts';
import { characterOf, combosOf } from './keys.ts';
import type { Layer } from './layers.ts';
import type { Session } from './session.ts';

/** Types text: line ends press enter, tabs press tab. */
export function typeText(session: Session, layers: () => Layer[], text: string): void {
  for (const part of text.split(/([\n\t])/)) {
    if (part === '\n') pressCombo(session, layers(), 'enter');
    else if (part === '\t') pressCombo(session, layers(), 'tab');
    else if (part !== '') typePart(session, part);
  }
}

function typePart(session: Session, text: string): void {
  if (session.popup) return;
  const { target } = session;
  if (target) {
    // Control characters have no shape and no meaning.
    const printable = [...text].filter((char) => char >= ' ' && char !== '\x7f').join('');
    if (printable !== '') target.insert(printable);
    return;
  }
  if (session.dialog) return;
  for (const char of text.slice(0, 20)) session.top?.app.key(char === ' ' ? 'space' : char);
}

/** Presses keys together, as in `['ctrl', 's']`. */
export function pressKeys(session: Session, layers: () => Layer[], keys: string[], held: ReadonlySet<string>): void {
  for (const combo of combosOf(keys, held)) pressCombo(session, layers(), combo);
}

function pressCombo(session: Session, layers: Layer[], combo: string): void {
  if (session.popup) {
    if (combo === 'esc') session.popup = null;
    return;
  }
  if (session.dialog && dialogKey(session, combo)) return;
  if (combo === 'tab' && nextField(session, layers)) return;
  const { target } = session;
  if (target?.key(combo, session.clipboard)) return;
  const character = characterOf(combo);
  if (target && character !== null) {
    target.insert(character);
    return;
  }
  if (!session.dialog) windowKey(session, combo);
}

function dialogKey(session: Session, combo: string): boolean {
  const buttons = session.dialog?.dialog.buttons ?? [];
  if (combo === 'enter') session.closeDialog(buttons[0]);
  else if (combo === 'esc') session.closeDialog(buttons.find((b) => b.name === 'Cancel'));
  else return false;
  return true;
}

function windowKey(session: Session, combo: string): void {
  const { top } = session;
  if (!top) return;
  if (combo === 'alt+f4' || combo === 'ctrl+q') session.closeApp(top.app);
  else if (combo === 'alt+tab') {
    const next = session.windows.at(-2);
    if (next) session.raise(next);
  } else top.app.key(combo);
}

/** Tab: the next entry of the dialog or window gets the focus. False where there are none. */
function nextField(session: Session, layers: Layer[]): boolean {
  const layer = layers.findLast((l) => l.kind === (session.dialog ? 'dialog' : 'window'));
  const fields: TextTarget[] = (layer?.widgets ?? []).flatMap((widget) => (widget.field ? [widget.field] : []));
  const owner = session.dialog ?? session.top?.app;
  const at = owner?.focus ? fields.indexOf(owner.focus) : -1;
  const next = layer?.widgets.filter((widget) => widget.field)[(at + 1) % fields.length]?.field;
  if (!owner || !next || (at < 0 && session.target !== null)) return false;
  const old = owner.focus;
  owner.focus = next;
  if (old !== next) old?.blur?.();
  next.clicked(false);
  return true;
}
