import { type App, type System, savePath } from '../apps/app.ts';
import { extensionOf, HOME, nameOf, parentOf } from '../files/vfs.ts';
import { Field } from './field.ts';

/** What a save dialog asks for. */
export interface SaveQuestion {
  title: string;
  /** Name of the button that saves. */
  button: string;
  /** The open file, or the name to begin with. */
  path: string | null;
  /** Name when nothing is open. */
  fallback: string;
  /** Folder when nothing is open. */
  folder: string;
  extension: string;
}

/** Asks for a file name; `save` gets the full path (docs/desktop.md, "Save dialogs"). */
export function askSave(system: System, question: SaveQuestion, save: (path: string) => void): void {
  const { path } = question;
  const field = new Field(path ? nameOf(path) : question.fallback);
  const folder = path ? parentOf(path) : question.folder;
  const extension = (path && extensionOf(path)) || question.extension;
  const run = () => {
    const target = savePath(field.text, folder, extension);
    if (target) save(target);
  };
  system.showDialog({
    title: question.title,
    rows: [{ kind: 'entry', name: 'Name', field }],
    buttons: [{ name: question.button, run }, { name: 'Cancel' }],
  });
}

/** The usual Save As of a document. */
export function askSaveAs(system: System, path: string | null, extension: string, save: (path: string) => void): void {
  const question = { title: 'Save As', button: 'Save', path, fallback: '', folder: `${HOME}/Documents`, extension };
  askSave(system, question, save);
}

/** Asks what to find and what to put there. */
export function askReplace(system: System, title: string, replace: (find: string, replacement: string) => void): void {
  const find = new Field();
  const replacement = new Field();
  system.showDialog({
    title,
    rows: [
      { kind: 'entry', name: 'Find', field: find },
      { kind: 'entry', name: 'Replace', field: replacement },
    ],
    buttons: [{ name: 'Replace All', run: () => replace(find.text, replacement.text) }, { name: 'Cancel' }],
  });
}

/** Ends the edit of a field and takes the focus away from it. */
export function dropFocus(app: App): void {
  const old = app.focus;
  app.focus = null;
  old?.blur?.();
}
