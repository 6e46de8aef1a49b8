import { MIME_FILE, readSetting, writeSetting } from '../files/settings.ts';
import {
  DEFAULT_APPS,
  SETTINGS_PAGES,
  SWITCHES,
  type SwitchSetting,
  VOLUME,
  WALLPAPER,
} from '../files/settings_table.ts';
import { C } from '../screen/palette.ts';
import type { Ui } from '../ui/ui.ts';
import { App } from './app.ts';

/** One cell for each ten: 0, 10, … 100. */
const VOLUME_CELLS = 11;
/** The pages are listed left of this column. */
const LEFT = 4;

/** System settings: changes wait until Apply. */
export class SettingsApp extends App {
  private page: string = 'Network';
  private switches = new Map<SwitchSetting, boolean>();
  private volume = VOLUME.initially;
  private wallpaper = 'Blue';
  private defaults = new Map<string, string>();

  get title(): string {
    return 'Settings';
  }

  override open(args: string[]): void {
    const wanted = SETTINGS_PAGES.find((page) => page.toLowerCase() === args[0]?.toLowerCase());
    if (wanted) this.page = wanted;
    this.load();
  }

  view(ui: Ui): void {
    ui.fill(0, 1, LEFT, 12, C.tab);
    this.system
      .order('pages', SETTINGS_PAGES, (p) => p)
      .forEach((page, row) => {
        const open = page === this.page;
        const bg = open ? C.rowSelected : C.tab;
        ui.add('page-tab', 0, 1 + row, LEFT, page, { bg, selected: open, edges: true, click: () => this.show(page) });
      });
    ui.label(6, 1, 8, this.page, { fg: C.title });
    this.viewPage(ui);
    ui.button(6, 11, 3, 'Apply', () => this.apply());
    ui.button(10, 11, 4, 'Revert', () => this.load());
  }

  private viewPage(ui: Ui): void {
    let y = 3;
    const switches = SWITCHES.filter((s) => s.page === this.page);
    for (const setting of this.system.order('switches', switches, (s) => s.name)) {
      const on = this.switches.get(setting) ?? false;
      ui.check(6, y++, 8, setting.name, on, () => this.switches.set(setting, !on));
    }
    if (this.page === 'Sound') this.viewVolume(ui, y + 1);
    if (this.page === 'Desktop') this.viewWallpaper(ui, y);
    if (this.page === 'Defaults') this.viewDefaults(ui);
  }

  private viewVolume(ui: Ui, y: number): void {
    ui.label(6, y, 8, `Volume ${this.volume}`);
    const set = (column: number) => {
      this.volume = column * 10;
    };
    ui.slider(LEFT, y + 1, VOLUME_CELLS, 'Volume', this.volume / 10, String(this.volume), set);
  }

  private viewWallpaper(ui: Ui, from: number): void {
    let y = from;
    for (const name of this.system.order('wallpapers', WALLPAPER.names, (n) => n)) {
      const choose = () => {
        this.wallpaper = name;
      };
      ui.radio(6, y++, 8, name, this.wallpaper === name, choose);
    }
  }

  private viewDefaults(ui: Ui): void {
    let y = 3;
    for (const { name, type, app } of DEFAULT_APPS) {
      ui.radio(6, y++, 8, name, this.defaults.get(type) === app, () => this.defaults.set(type, app));
    }
  }

  private show(page: string): void {
    this.page = page;
  }

  private load(): void {
    const { vfs } = this.system;
    for (const setting of SWITCHES) {
      const value = readSetting(vfs, setting.schema, setting.key);
      this.switches.set(setting, value === null ? setting.initially : value === setting.on);
    }
    const volume = Number(readSetting(vfs, VOLUME.schema, VOLUME.key) ?? VOLUME.initially);
    this.volume = Number.isFinite(volume) ? Math.max(0, Math.min(100, volume)) : VOLUME.initially;
    const colour = readSetting(vfs, WALLPAPER.schema, WALLPAPER.key)?.replaceAll("'", '') ?? 'blue';
    this.wallpaper = WALLPAPER.names.find((name) => name.toLowerCase() === colour) ?? 'Blue';
    this.defaults = new Map([
      ['text/plain', this.system.defaultApp('text/plain') ?? 'code'],
      ['image/png', this.system.defaultApp('image/png') ?? 'gimp'],
    ]);
  }

  /** Writes what differs from before; a value that is back at its default but stands in the file is written too. */
  private apply(): void {
    for (const [setting, on] of this.switches) {
      this.write(
        setting.schema,
        setting.key,
        on ? setting.on : setting.off,
        setting.initially ? setting.on : setting.off,
      );
    }
    this.write(VOLUME.schema, VOLUME.key, String(this.volume), String(VOLUME.initially));
    this.write(WALLPAPER.schema, WALLPAPER.key, `'${this.wallpaper.toLowerCase()}'`, "'blue'");
    const lines = [...this.defaults].map(([type, app]) => `${type}=${app}.desktop\n`);
    this.system.vfs.write(MIME_FILE, `[Default Applications]\n${lines.join('')}`);
  }

  private write(schema: string, key: string, value: string, initial: string): void {
    const before = readSetting(this.system.vfs, schema, key);
    if (value !== (before ?? initial)) writeSetting(this.system.vfs, schema, key, value);
  }
}
