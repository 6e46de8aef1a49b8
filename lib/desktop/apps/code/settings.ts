import { readJson, writeJson } from '../../files/json_file.ts';
import { HOME, type Vfs } from '../../files/vfs.ts';
import { Field } from '../../ui/field.ts';
import type { Ui } from '../../ui/ui.ts';

const FILE = `${HOME}/.config/Code/User/settings.json`;

interface Toggle {
  name: string;
  key: string;
  on: string | boolean;
  off: string | boolean;
  initially: boolean;
}

const TOGGLES: readonly Toggle[] = [
  { name: 'Word Wrap', key: 'editor.wordWrap', on: 'on', off: 'off', initially: false },
  { name: 'Auto Save', key: 'files.autoSave', on: 'afterDelay', off: 'off', initially: false },
  { name: 'Minimap', key: 'editor.minimap.enabled', on: true, off: false, initially: true },
  { name: 'Line Numbers', key: 'editor.lineNumbers', on: 'on', off: 'off', initially: true },
  {
    name: 'Dark Theme',
    key: 'workbench.colorTheme',
    on: 'Default Dark Modern',
    off: 'Default Light Modern',
    initially: false,
  },
  { name: 'Bracket Pairs', key: 'editor.bracketPairColorization.enabled', on: true, off: false, initially: true },
];

const NUMBERS = [
  { name: 'Font Size', key: 'editor.fontSize', initially: 14 },
  { name: 'Tab Size', key: 'editor.tabSize', initially: 4 },
];

/** The settings page of the code editor: real keys in a real settings.json, saved at each change. */
export class CodeSettings {
  private readonly vfs: Vfs;
  private readonly fields: Field[];

  constructor(vfs: Vfs) {
    this.vfs = vfs;
    this.fields = NUMBERS.map(({ key }) => {
      const field = new Field('', {
        onEnter: () => this.saveNumber(key, field.text),
        onBlur: () => this.saveNumber(key, field.text),
      });
      return field;
    });
  }

  /** Fills the fields from the file. */
  load(): void {
    NUMBERS.forEach(({ key, initially }, index) => {
      this.fields[index]?.set(String(this.value(key) ?? initially));
    });
  }

  isDark(): boolean {
    return String(this.value('workbench.colorTheme') ?? '').includes('Dark');
  }

  savesItself(): boolean {
    return (this.value('files.autoSave') ?? 'off') !== 'off';
  }

  view(ui: Ui, x: number, y: number): void {
    TOGGLES.forEach(({ name, key, on, off, initially }, row) => {
      const value = this.value(key);
      const isOn = value === undefined ? initially : value === on;
      ui.check(x + 1, y + row, 9, name, isOn, () => this.write(key, isOn ? off : on));
    });
    NUMBERS.forEach(({ name }, row) => {
      const field = this.fields[row];
      if (!field) return;
      ui.label(x + 1, y + 7 + row, 5, name);
      ui.entry(x + 6, y + 7 + row, 3, name, field);
    });
  }

  private value(key: string): unknown {
    return readJson(this.vfs, FILE)[key];
  }

  private saveNumber(key: string, text: string): void {
    const number = Number(text);
    const initially = NUMBERS.find((n) => n.key === key)?.initially;
    const before = this.value(key) ?? initially;
    if (text.trim() === '' || !Number.isFinite(number) || number === before) return;
    this.write(key, number);
  }

  private write(key: string, value: unknown): void {
    writeJson(this.vfs, FILE, { ...readJson(this.vfs, FILE), [key]: value });
  }
}
