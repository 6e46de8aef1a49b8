import { extensionOf, HOME, nameOf, resolvePath } from '../../files/vfs.ts';
import type { Canvas } from '../../screen/cells.ts';
import { Field } from '../../ui/field.ts';
import { askSave } from '../../ui/save_dialog.ts';
import type { Ui } from '../../ui/ui.ts';
import type { MenuItem } from '../../ui/widget.ts';
import { App } from '../app.ts';
import { canvasOf, decodePicture, encodeRgb, mapPixels, type Picture, remap } from './picture.ts';

const PICTURES = `${HOME}/Pictures`;
const PREFERENCES = `${HOME}/.config/GIMP/2.10/gimprc`;
const CANVAS_COLUMNS = 14;
const CANVAS_ROWS = 9;

/** The image editor. */
export class GimpApp extends App {
  private path: string | null = null;
  private picture: Picture | null = null;
  private canvas: Canvas | null = null;
  private past: Picture[] = [];

  get title(): string {
    return this.path ? `${nameOf(this.path)} - GIMP` : 'GIMP';
  }

  override open(args: string[]): void {
    if (args[0]) this.load(resolvePath(args[0]));
  }

  view(ui: Ui): void {
    ui.menuBar(1, [
      { name: 'File', items: () => this.fileMenu() },
      { name: 'Edit', items: () => this.editMenu() },
      { name: 'Image', items: () => this.imageMenu() },
      { name: 'Colors', items: () => this.colorsMenu() },
    ]);
    if (!this.picture || !this.canvas) {
      ui.label(1, 4, 13, 'No image is open');
      return;
    }
    ui.add('image', 0, 3, CANVAS_COLUMNS, 'Canvas', { h: CANVAS_ROWS, canvas: this.canvas });
    const { width, height } = this.picture;
    ui.label(0, 12, 8, `${width}x${height}`, { text: `${width}x${height}` });
  }

  override key(combo: string): boolean {
    const commands: Record<string, () => void> = {
      'ctrl+s': () => this.save(),
      'ctrl+e': () => this.save(),
      'ctrl+shift+e': () => this.exportAs(),
      'ctrl+shift+s': () => this.exportAs(),
      'ctrl+o': () => this.askOpen(),
      'ctrl+z': () => this.undo(),
    };
    commands[combo]?.();
    return combo in commands;
  }

  private load(path: string): void {
    const bytes = this.system.vfs.readBytes(path);
    const picture = bytes && decodePicture(bytes);
    if (!picture) return;
    this.path = path;
    this.past = [];
    this.show(picture);
  }

  private show(picture: Picture | null): void {
    this.picture = picture;
    this.canvas = picture && canvasOf(picture, CANVAS_COLUMNS, CANVAS_ROWS);
  }

  private fileMenu(): MenuItem[] {
    return [
      { name: 'Open', run: () => this.askOpen() },
      { name: 'Save', run: () => this.save() },
      { name: 'Export As', run: () => this.exportAs() },
      { name: 'Close Image', run: () => this.closeImage() },
    ];
  }

  private editMenu(): MenuItem[] {
    return [
      { name: 'Undo', run: () => this.undo() },
      { name: 'Preferences', run: () => this.askPreferences() },
    ];
  }

  private imageMenu(): MenuItem[] {
    const turn = (name: string, change: (p: Picture) => Picture) => ({ name, run: () => this.change(change) });
    return [
      turn('Flip Horizontal', (p) => remap(p, p.width, p.height, (x, y) => [p.width - 1 - x, y])),
      turn('Flip Vertical', (p) => remap(p, p.width, p.height, (x, y) => [x, p.height - 1 - y])),
      turn('Rotate Right', (p) => remap(p, p.height, p.width, (x, y) => [y, p.height - 1 - x])),
      turn('Rotate Left', (p) => remap(p, p.height, p.width, (x, y) => [p.width - 1 - y, x])),
      turn('Scale Half', (p) => remap(p, half(p.width), half(p.height), (x, y) => [x * 2, y * 2])),
      turn('Crop Left Half', (p) => remap(p, half(p.width), p.height, (x, y) => [x, y])),
    ];
  }

  private colorsMenu(): MenuItem[] {
    const tint = (name: string, change: (r: number, g: number, b: number) => number[]) => ({
      name,
      run: () => this.change((p) => mapPixels(p, change)),
    });
    const contrast = (v: number) => (v - 128) * 1.5 + 128;
    return [
      tint('Brighter', (r, g, b) => [r + 48, g + 48, b + 48]),
      tint('Darker', (r, g, b) => [r - 48, g - 48, b - 48]),
      tint('Invert', (r, g, b) => [255 - r, 255 - g, 255 - b]),
      tint('Desaturate', (r, g, b) => new Array<number>(3).fill(0.3 * r + 0.59 * g + 0.11 * b)),
      tint('More Contrast', (r, g, b) => [contrast(r), contrast(g), contrast(b)]),
      tint('Less Blue', (r, g, b) => [r, g, b / 2]),
    ];
  }

  private change(edit: (picture: Picture) => Picture): void {
    if (!this.picture) return;
    this.past.push(this.picture);
    if (this.past.length > 20) this.past.shift();
    this.show(edit(this.picture));
  }

  private undo(): void {
    const before = this.past.pop();
    if (before) this.show(before);
  }

  private closeImage(): void {
    this.path = null;
    this.past = [];
    this.show(null);
  }

  private save(): void {
    if (this.path) this.saveTo(this.path);
  }

  private saveTo(path: string): void {
    if (this.picture && this.system.vfs.write(path, encodeRgb(this.picture))) this.path = path;
  }

  private exportAs(): void {
    if (!this.picture) return;
    const question = {
      title: 'Export As',
      button: 'Export',
      path: this.path,
      fallback: '',
      folder: PICTURES,
      extension: '.png',
    };
    askSave(this.system, question, (path) => this.saveTo(path));
  }

  private askOpen(): void {
    const names = this.system.vfs.list(PICTURES).filter((name) => extensionOf(name) === '.png');
    const shown = this.system.order('open image', names, (n) => n).slice(0, 8);
    const rows = shown.map((name) => ({ kind: 'choice' as const, name, selected: false }));
    const run = () => {
      const chosen = rows.find((row) => row.selected);
      if (chosen) this.load(`${PICTURES}/${chosen.name}`);
    };
    this.system.showDialog({ title: 'Open Image', rows, buttons: [{ name: 'Open', run }, { name: 'Cancel' }] });
  }

  private askPreferences(): void {
    const text = this.system.vfs.readText(PREFERENCES) ?? '';
    const has = (line: string) => text.includes(line);
    const dark = { kind: 'check' as const, name: 'Dark Theme', on: has('(theme "Dark")') };
    const tips = { kind: 'check' as const, name: 'Show Tips', on: !has('(show-tips no)') };
    const grid = { kind: 'check' as const, name: 'Show Grid', on: has('(show-grid yes)') };
    const levels = new Field(/\(undo-levels (\d+)\)/.exec(text)?.[1] ?? '50');
    const run = () => {
      const yes = (on: boolean) => (on ? 'yes' : 'no');
      const number = /^\d{1,4}$/.test(levels.text.trim()) ? levels.text.trim() : '50';
      const lines = [
        `(theme "${dark.on ? 'Dark' : 'Light'}")`,
        `(show-tips ${yes(tips.on)})`,
        `(show-grid ${yes(grid.on)})`,
        `(undo-levels ${number})`,
      ];
      this.system.vfs.write(PREFERENCES, `${lines.join('\n')}\n`);
    };
    const rows = [...this.system.order('gimp preferences', [dark, tips, grid], (row) => row.name)];
    const entry = { kind: 'entry' as const, name: 'Undo Levels', field: levels };
    this.system.showDialog({
      title: 'Preferences',
      rows: [...rows, entry],
      buttons: [{ name: 'OK', run }, { name: 'Cancel' }],
    });
  }
}

function half(size: number): number {
  return Math.max(1, size >> 1);
}
