import { HOME, nameOf, parentOf, resolvePath } from '../../files/vfs.ts';
import { C } from '../../screen/palette.ts';
import { followCaret, viewEditor } from '../../ui/editor_view.ts';
import { askDelete, askRename } from '../../ui/file_actions.ts';
import { type Line, LineEditor } from '../../ui/lines.ts';
import { askReplace, askSaveAs } from '../../ui/save_dialog.ts';
import type { Ui } from '../../ui/ui.ts';
import type { MenuItem, TextTarget } from '../../ui/widget.ts';
import { App, clampScroll } from '../app.ts';
import { splitLines } from '../writer/markdown.ts';
import { CodeSettings } from './settings.ts';

const ROWS = 11;
/** Columns of the explorer. */
const LEFT = 5;

/** The code editor. */
export class CodeApp extends App {
  private folder = `${HOME}/Documents`;
  private path: string | null = null;
  private dirty = false;
  private page: 'editor' | 'settings' = 'editor';
  private offset = 0;
  private readonly editor = new LineEditor();
  private readonly settings = new CodeSettings(this.system.vfs);

  get title(): string {
    if (this.page === 'settings') return 'Settings - Visual Studio Code';
    return `${this.dirty ? '*' : ''}${this.path ? nameOf(this.path) : 'Untitled'} - Visual Studio Code`;
  }

  override get typing(): TextTarget | null {
    return this.page === 'editor' ? this.editor : null;
  }

  override open(args: string[]): void {
    this.editor.onChange = () => this.changed();
    const path = args[0] ? resolvePath(args[0]) : null;
    if (path && this.system.vfs.isFolder(path)) this.folder = path;
    else if (path) this.folder = parentOf(path);
    this.load(path && !this.system.vfs.isFolder(path) ? path : null);
  }

  view(ui: Ui): void {
    ui.menuBar(1, [
      { name: 'File', items: () => this.fileMenu() },
      { name: 'Edit', items: () => this.editMenu() },
      { name: 'View', items: () => this.viewMenu() },
    ]);
    ui.fill(0, 2, LEFT, ROWS, C.tab);
    const files = this.system.vfs.list(this.folder).filter((name) => this.system.vfs.isFile(`${this.folder}/${name}`));
    ui.list(
      this.system.order('code', files, (n) => n),
      0,
      ROWS,
      (name, row) => this.viewFile(ui, name, row),
    );
    if (this.page === 'settings') {
      this.settings.view(ui, LEFT, 2);
      return;
    }
    if (!this.editor.selection) this.offset = followCaret(this.editor, this.offset, ROWS);
    const focused = ui.isFocused(this.editor);
    const bg = this.settings.isDark() ? C.tab : C.field;
    viewEditor(ui, this.editor, this.offset, { x: LEFT, y: 2, w: 10, rows: ROWS, focused, bg });
  }

  override key(combo: string): boolean {
    const commands: Record<string, () => void> = {
      'ctrl+s': () => this.save(),
      'ctrl+shift+s': () => this.saveAs(),
      'ctrl+n': () => this.load(null),
      'ctrl+h': () => this.replace(),
      'ctrl+/': () => this.comment(),
      'ctrl+,': () => this.show('settings'),
    };
    commands[combo]?.();
    return combo in commands;
  }

  override scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, this.editor.lines.length, ROWS);
  }

  private viewFile(ui: Ui, name: string, row: number) {
    const path = `${this.folder}/${name}`;
    const menu = (): MenuItem[] => [
      { name: 'Open', run: () => this.load(path) },
      { name: 'Rename', run: () => askRename(this.system, path, (target) => this.renamed(path, target)) },
      { name: 'Delete', run: () => askDelete(this.system, path, () => this.deleted(path)) },
    ];
    return ui.item(0, 2 + row, LEFT, name, path === this.path, () => this.load(path), { bg: C.tab, menu });
  }

  private renamed(from: string, to: string): void {
    if (this.path === from) this.path = to;
  }

  private deleted(path: string): void {
    if (this.path === path) this.load(null);
  }

  private fileMenu(): MenuItem[] {
    return [
      { name: 'New File', run: () => this.load(null) },
      { name: 'Save', run: () => this.save() },
      { name: 'Save As', run: () => this.saveAs() },
      { name: 'Save All', run: () => this.save() },
      { name: 'Close Editor', run: () => this.load(null) },
    ];
  }

  private editMenu(): MenuItem[] {
    return [
      { name: 'Undo', run: () => this.editor.undoLast() },
      { name: 'Select All', run: () => this.editor.selectAll() },
      { name: 'Replace', run: () => this.replace() },
      { name: 'Sort Lines', run: () => this.sort() },
      { name: 'Uppercase', run: () => this.upper() },
      { name: 'Comment Line', run: () => this.comment() },
    ];
  }

  private viewMenu(): MenuItem[] {
    return [
      { name: 'Settings', run: () => this.show('settings') },
      { name: 'Explorer', run: () => this.show('editor') },
    ];
  }

  private show(page: 'editor' | 'settings'): void {
    this.page = page;
    this.focus = null;
    this.settings.load();
  }

  private load(path: string | null): void {
    const text = path === null ? '' : this.system.vfs.readText(path);
    this.editor.load(splitLines(text ?? '').map((line): Line => ({ text: line })));
    this.path = path;
    this.dirty = false;
    this.page = 'editor';
    this.focus = null;
    this.offset = 0;
  }

  private changed(): void {
    this.dirty = true;
    if (this.path && this.settings.savesItself()) this.saveTo(this.path);
  }

  private replace(): void {
    askReplace(this.system, 'Replace', (find, replacement) => this.editor.replaceAll(find, replacement));
  }

  private sort(): void {
    const { editor } = this;
    const [from, to] = editor.selection ?? [0, editor.lines.length - 1];
    editor.edit(() => {
      const sorted = editor.lines.slice(from, to + 1).sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
      editor.lines.splice(from, sorted.length, ...sorted);
    });
  }

  private upper(): void {
    const { targets } = this.editor;
    this.editor.edit(() => {
      for (const line of targets) line.text = line.text.toUpperCase();
    });
  }

  private comment(): void {
    const { targets } = this.editor;
    const commented = targets.every((line) => line.text.startsWith('# '));
    this.editor.edit(() => {
      for (const line of targets) line.text = commented ? line.text.slice(2) : `# ${line.text}`;
    });
  }

  private save(): void {
    if (this.path) this.saveTo(this.path);
    else this.saveAs();
  }

  private saveAs(): void {
    const question = this.path ?? `${this.folder}/`;
    askSaveAs(this.system, question, '.txt', (path) => this.saveTo(path));
  }

  private saveTo(path: string): void {
    if (!this.system.vfs.write(path, `${this.editor.plain()}\n`)) return;
    this.path = path;
    this.dirty = false;
  }
}
