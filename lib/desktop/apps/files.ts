import { extensionOf, HOME, nameOf, parentOf } from '../files/vfs.ts';
import { C } from '../screen/palette.ts';
import {
  askDelete,
  askName,
  askRename,
  forgetTrashNote,
  freePath,
  moveToTrash,
  restoreFromTrash,
  TRASH,
} from '../ui/file_actions.ts';
import type { Ui } from '../ui/ui.ts';
import type { MenuItem } from '../ui/widget.ts';
import { App, clampScroll } from './app.ts';

const PLACES: [string, string][] = [
  ['Home', HOME],
  ['Desktop', `${HOME}/Desktop`],
  ['Documents', `${HOME}/Documents`],
  ['Downloads', `${HOME}/Downloads`],
  ['Pictures', `${HOME}/Pictures`],
  ['Music', `${HOME}/Music`],
  ['Trash', TRASH],
];

const SHOWN = 11;

/** The file manager. */
export class FilesApp extends App {
  private folder = HOME;
  private selected: string | null = null;
  private offset = 0;
  private held: { path: string; cut: boolean } | null = null;

  get title(): string {
    const place = PLACES.find(([, path]) => path === this.folder);
    return `${place?.[0] ?? nameOf(this.folder)} - Files`;
  }

  override open(args: string[]): void {
    const path = args[0] ?? HOME;
    this.goTo(this.system.vfs.isFolder(path) ? path : parentOf(path));
  }

  view(ui: Ui): void {
    ui.fill(0, 1, 15, 1, C.menuBar);
    ui.button(0, 1, 2, 'Up', () => this.goTo(parentOf(this.folder)));
    ui.button(2, 1, 6, 'New Folder', () => this.newFolder());
    ui.button(8, 1, 3, 'Paste', () => this.paste());
    ui.fill(0, 2, 5, 11, C.tab);
    const places = this.system.order('places', PLACES, ([name]) => name);
    places.forEach(([name, path], row) => {
      ui.item(0, 2 + row, 5, name, path === this.folder, () => this.goTo(path), {
        bg: C.tab,
        label: name.toLowerCase(),
      });
    });
    this.viewList(ui);
  }

  private viewList(ui: Ui): void {
    const names = this.names();
    this.offset = clampScroll(this.offset, names.length, SHOWN);
    ui.list(names, this.offset, SHOWN, (name, row) => {
      const path = `${this.folder}/${name}`;
      const icon = this.system.vfs.isFolder(path) ? 'folder' : iconOf(name);
      const menu = () => this.rowMenu(name);
      const item = { icon, iconFg: C.star, double: () => this.openPath(path), menu } as const;
      return ui.item(5, 2 + row, 10, name, this.selected === name, () => this.select(name), item);
    });
  }

  override key(combo: string): boolean {
    const path = this.selected === null ? null : `${this.folder}/${this.selected}`;
    if (combo === 'ctrl+v') this.paste();
    else if (combo === 'ctrl+shift+n') this.newFolder();
    else if (combo === 'backspace' || combo === 'alt+up') this.goTo(parentOf(this.folder));
    else if (!path || !this.system.vfs.exists(path)) return false;
    else if (combo === 'enter') this.openPath(path);
    else if (combo === 'f2') askRename(this.system, path);
    else if (combo === 'delete') this.discard(path);
    else if (combo === 'shift+delete') this.deleteForGood(path);
    else if (combo === 'ctrl+c' || combo === 'ctrl+x') this.hold(path, combo === 'ctrl+x');
    else return false;
    return true;
  }

  override scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, this.names().length, SHOWN);
  }

  override emptyMenu(): MenuItem[] {
    return [
      { name: 'New Folder', run: () => this.newFolder() },
      { name: 'New File', run: () => this.newFile() },
      { name: 'Paste', run: () => this.paste() },
    ];
  }

  private names(): string[] {
    const names = this.system.vfs.list(this.folder).filter((name) => !name.startsWith('.'));
    return this.system.order(`files ${this.folder}`, names, (name) => name);
  }

  private select(name: string): void {
    this.selected = name;
  }

  private goTo(folder: string): void {
    this.folder = folder;
    this.selected = null;
    this.offset = 0;
  }

  private openPath(path: string): void {
    if (this.system.vfs.isFolder(path)) this.goTo(path);
    else if (this.system.vfs.isFile(path)) this.system.openFile(path);
  }

  private rowMenu(name: string): MenuItem[] {
    this.select(name);
    const path = `${this.folder}/${name}`;
    const remove = { name: 'Delete', run: () => this.deleteForGood(path) };
    if (this.folder === TRASH) return [{ name: 'Restore', run: () => restoreFromTrash(this.system.vfs, path) }, remove];
    return [
      { name: 'Open', run: () => this.openPath(path) },
      { name: 'Rename', run: () => askRename(this.system, path) },
      { name: 'Copy', run: () => this.hold(path, false) },
      { name: 'Cut', run: () => this.hold(path, true) },
      { name: 'Move to Trash', run: () => this.discard(path) },
      remove,
    ];
  }

  private hold(path: string, cut: boolean): void {
    this.held = { path, cut };
    this.system.clipboard.text = path;
  }

  private paste(): void {
    const { held } = this;
    if (!held || !this.system.vfs.exists(held.path)) return;
    if (held.cut && parentOf(held.path) === this.folder) return;
    const target = freePath(this.system.vfs, `${this.folder}/${nameOf(held.path)}`);
    if (!held.cut) this.system.vfs.copy(held.path, target);
    else if (this.system.vfs.move(held.path, target)) this.held = null;
  }

  private discard(path: string): void {
    if (this.folder === TRASH) this.deleteForGood(path);
    else moveToTrash(this.system.vfs, path);
    this.selected = null;
  }

  private deleteForGood(path: string): void {
    askDelete(this.system, path, () => {
      if (this.folder === TRASH) forgetTrashNote(this.system.vfs, path);
      this.selected = null;
    });
  }

  private newFolder(): void {
    askName(this.system, 'New Folder', 'Create', '', (name) => this.create(name, true));
  }

  private newFile(): void {
    askName(this.system, 'New File', 'Create', '', (name) => this.create(name, false));
  }

  private create(name: string, folder: boolean): void {
    const path = `${this.folder}/${name}`;
    if (this.system.vfs.exists(path)) return;
    if (folder) this.system.vfs.makeFolder(path);
    else this.system.vfs.write(path, '');
    this.selected = name;
  }
}

function iconOf(name: string): 'note' | 'picture' | 'file' {
  const ending = extensionOf(name);
  if (ending === '.mp3' || ending === '.mp4') return 'note';
  return ending === '.png' ? 'picture' : 'file';
}
