import { nameOf, resolvePath } from '../files/vfs.ts';
import { askSaveAs } from '../ui/save_dialog.ts';
import type { MenuItem } from '../ui/widget.ts';
import { App } from './app.ts';

/** An application with one document: opened from a file, shown in the title, saved where it came from or elsewhere. */
export abstract class OfficeApp extends App {
  /** The document's file; null for one that was never saved. */
  protected path: string | null = null;

  /** Name behind the title's dash. */
  protected abstract readonly program: string;
  /** Ending that a file gets whose name has none. */
  protected abstract readonly extension: string;

  /** Shows the text of `path`; empty for a new document. */
  protected abstract load(text: string): void;

  /** The document as the text of a file at `path`, whose ending may say in which form. */
  protected abstract print(path: string): string;

  /** Takes in what is being typed, before the document is saved. */
  protected commit(): void {}

  get title(): string {
    return `${this.path ? nameOf(this.path) : `Untitled${this.extension}`} - LibreOffice ${this.program}`;
  }

  override open(args: string[]): void {
    this.path = args[0] ? resolvePath(args[0]) : null;
    this.load((this.path && this.system.vfs.readText(this.path)) ?? '');
  }

  override key(combo: string): boolean {
    if (combo === 'ctrl+s') this.save();
    else if (combo === 'ctrl+shift+s') this.saveAs();
    else return false;
    return true;
  }

  protected fileMenu(): MenuItem[] {
    return [
      { name: 'Save', run: () => this.save() },
      { name: 'Save As', run: () => this.saveAs() },
    ];
  }

  private save(): void {
    this.commit();
    if (this.path) this.saveTo(this.path);
    else this.saveAs();
  }

  private saveAs(): void {
    this.commit();
    askSaveAs(this.system, this.path, this.extension, (path) => this.saveTo(path));
  }

  private saveTo(path: string): void {
    if (this.system.vfs.write(path, this.print(path))) this.path = path;
  }
}
