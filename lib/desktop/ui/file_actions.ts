import type { System } from '../apps/app.ts';
import { extensionOf, HOME, nameOf, parentOf, type Vfs } from '../files/vfs.ts';
import { Field } from './field.ts';

/** Dialogs and moves of files that Files and Code share. */

export const TRASH = `${HOME}/.local/share/Trash/files`;
const TRASH_INFO = `${HOME}/.local/share/Trash/info`;

/** Asks for one name; `done` gets it trimmed, never empty and without `/`. */
export function askName(
  system: System,
  title: string,
  button: string,
  initial: string,
  done: (name: string) => void,
): void {
  const field = new Field(initial);
  const run = () => {
    const name = field.text.trim();
    if (name !== '' && !name.includes('/')) done(name);
  };
  system.showDialog({
    title,
    rows: [{ kind: 'entry', name: 'Name', field }],
    buttons: [{ name: button, run }, { name: 'Cancel' }],
  });
}

/** Asks for a new name; nothing happens when the name is taken. */
export function askRename(system: System, path: string, done: (path: string) => void = () => {}): void {
  askName(system, 'Rename', 'Rename', nameOf(path), (name) => {
    const target = `${parentOf(path)}/${name}`;
    if (system.vfs.exists(target)) return;
    if (system.vfs.move(path, target)) done(target);
  });
}

/** Asks before it deletes for good. */
export function askDelete(system: System, path: string, done: () => void = () => {}): void {
  const run = () => {
    system.vfs.remove(path);
    done();
  };
  system.showDialog({
    title: `Delete ${nameOf(path)}`,
    rows: [{ kind: 'label', text: 'Delete for good?' }],
    buttons: [{ name: 'Delete', run }, { name: 'Cancel' }],
  });
}

/** The path itself, or one with ` copy`, ` copy 2`, … before the ending when it is taken. */
export function freePath(vfs: Vfs, path: string): string {
  const ending = extensionOf(path);
  const stem = path.slice(0, path.length - ending.length);
  let candidate = path;
  for (let n = 1; vfs.exists(candidate); n++) candidate = `${stem} copy${n > 1 ? ` ${n}` : ''}${ending}`;
  return candidate;
}

/** Moves a file or folder to the trash, with the note that says where it came from. */
export function moveToTrash(vfs: Vfs, path: string): void {
  const target = freePath(vfs, `${TRASH}/${nameOf(path)}`);
  if (!vfs.move(path, target)) return;
  const info = `[Trash Info]\nPath=${path}\nDeletionDate=2025-01-06T09:00:00\n`;
  vfs.write(`${TRASH_INFO}/${nameOf(target)}.trashinfo`, info);
}

/** Puts something from the trash back to where it was, or to the home folder when nobody knows. */
export function restoreFromTrash(vfs: Vfs, path: string): void {
  const note = `${TRASH_INFO}/${nameOf(path)}.trashinfo`;
  const origin = /^Path=(.*)$/m.exec(vfs.readText(note) ?? '')?.[1] ?? `${HOME}/${nameOf(path)}`;
  if (vfs.move(path, freePath(vfs, origin))) vfs.remove(note);
}

/** Removes the note that says where a thing in the trash came from. */
export function forgetTrashNote(vfs: Vfs, path: string): void {
  vfs.remove(`${TRASH_INFO}/${nameOf(path)}.trashinfo`);
}
