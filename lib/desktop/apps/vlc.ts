import { extensionOf, HOME, nameOf, resolvePath } from '../files/vfs.ts';
import { C } from '../screen/palette.ts';
import { Field } from '../ui/field.ts';
import { askSave } from '../ui/save_dialog.ts';
import type { Ui } from '../ui/ui.ts';
import type { MenuItem } from '../ui/widget.ts';
import { App, clampScroll } from './app.ts';

const CONFIG = `${HOME}/.config/vlc`;
const MUSIC = `${HOME}/Music`;
const ROWS = 6;
/** Cells of the volume slider: 0, 25, … 200 percent. */
const VOLUME_CELLS = 9;

const PREFERENCES: [string, string, boolean][] = [
  ['Fullscreen', 'fullscreen', false],
  ['Minimal View', 'qt-minimal-view', false],
  ['Play and Exit', 'play-and-exit', false],
  ['One Instance', 'one-instance', false],
  ['Show Cone', 'qt-bgcone', true],
];

/** The media player. */
export class VlcApp extends App {
  private songs: string[] = [];
  private selected: string | null = null;
  private loaded: string | null = null;
  private state: 'playing' | 'paused' | 'stopped' = 'stopped';
  /** Percent. */
  private volume = 100;
  private rate = 1;
  private loop = false;
  private random = false;
  private offset = 0;

  get title(): string {
    return this.loaded ? `${this.loaded} - VLC media player` : 'VLC media player';
  }

  override open(args: string[]): void {
    const path = args[0] ? resolvePath(args[0]) : null;
    if (this.songs.length === 0 || path) this.songs = this.playlistOf(path);
    if (path && extensionOf(path) !== '.m3u') {
      const name = nameOf(path);
      if (!this.songs.includes(name)) this.songs.push(name);
      this.play(name);
    } else this.report();
  }

  view(ui: Ui): void {
    ui.menuBar(1, [
      { name: 'Media', items: () => this.mediaMenu() },
      { name: 'Playback', items: () => this.playbackMenu() },
      { name: 'Tools', items: () => [{ name: 'Preferences', run: () => this.askPreferences() }] },
    ]);
    ui.fill(0, 2, 15, ROWS, C.tab);
    this.offset = clampScroll(this.offset, this.songs.length, ROWS);
    ui.list(this.songs, this.offset, ROWS, (song, row) => this.viewSong(ui, song, 2 + row));
    ui.label(0, 8, 15, this.loaded ? `${this.state} ${this.loaded}` : this.state, { fg: C.title });
    ui.button(0, 9, 5, 'Previous', () => this.step(-1));
    ui.button(5, 9, 3, 'Play', () => this.playOrPause());
    ui.button(8, 9, 3, 'Stop', () => this.stop());
    ui.button(11, 9, 3, 'Next', () => this.step(1));
    ui.toggle(0, 10, 3, 'Loop', this.loop, () => this.toggleLoop());
    ui.toggle(3, 10, 4, 'Random', this.random, () => this.toggleRandom());
    ui.label(8, 10, 7, `Vol ${this.volume}`);
    ui.button(0, 11, 3, 'Quieter', () => this.setVolume(this.volume - 25), { label: 'Vol -' });
    ui.slider(3, 11, VOLUME_CELLS, 'Volume', this.volume / 25, String(this.volume), (column) =>
      this.setVolume(column * 25),
    );
    ui.button(12, 11, 3, 'Louder', () => this.setVolume(this.volume + 25), { label: 'Vol +' });
  }

  private viewSong(ui: Ui, song: string, y: number) {
    const playing = song === this.loaded && this.state !== 'stopped';
    const menu = (): MenuItem[] => {
      this.selected = song;
      return [
        { name: 'Play', run: () => this.play(song) },
        { name: 'Remove', run: () => this.remove(song) },
      ];
    };
    const select = () => {
      this.selected = song;
    };
    const icon = playing ? 'play' : 'note';
    const extra = { icon, iconFg: playing ? C.checkOn : C.line, double: () => this.play(song), menu } as const;
    return ui.item(0, y, 15, song, this.selected === song, select, extra);
  }

  override key(combo: string): boolean {
    if (combo === 'space') this.playOrPause();
    else if (combo === 's') this.stop();
    else if (combo === 'ctrl+p') this.askPreferences();
    else if (combo === 'ctrl+up') this.setVolume(this.volume + 25);
    else if (combo === 'ctrl+down') this.setVolume(this.volume - 25);
    else if (combo === 'enter' && this.selected) this.play(this.selected);
    else if (combo === 'delete' && this.selected) this.remove(this.selected);
    else return false;
    return true;
  }

  override scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, this.songs.length, ROWS);
  }

  private playlistOf(path: string | null): string[] {
    const { vfs } = this.system;
    if (path && extensionOf(path) === '.m3u') {
      return (vfs.readText(path) ?? '')
        .split('\n')
        .map((l) => nameOf(l.trim()))
        .filter((l) => l !== '' && !l.startsWith('#'));
    }
    const songs = vfs.list(MUSIC).filter((name) => ['.mp3', '.mp4', '.ogg'].includes(extensionOf(name)));
    return this.system.order('songs', songs, (song) => song);
  }

  private play(song: string): void {
    this.loaded = song;
    this.selected = song;
    this.state = 'playing';
    this.report();
  }

  private playOrPause(): void {
    if (this.state === 'playing' && (this.selected === null || this.selected === this.loaded)) {
      this.state = 'paused';
      this.report();
      return;
    }
    const song = this.selected ?? this.loaded ?? this.songs[0];
    if (song) this.play(song);
  }

  private stop(): void {
    this.state = 'stopped';
    this.loaded = null;
    this.report();
  }

  private step(by: number): void {
    const at = this.loaded ? this.songs.indexOf(this.loaded) : -1;
    const song = this.songs[(at + by + this.songs.length) % this.songs.length];
    if (song) this.play(song);
  }

  private remove(song: string): void {
    this.songs = this.songs.filter((other) => other !== song);
    if (this.loaded === song) this.stop();
    this.selected = null;
  }

  private toggleLoop(): void {
    this.loop = !this.loop;
    this.report();
  }

  private toggleRandom(): void {
    this.random = !this.random;
    this.report();
  }

  private setVolume(percent: number): void {
    this.volume = Math.max(0, Math.min(200, percent));
    this.report();
  }

  private setRate(rate: number): void {
    this.rate = Math.max(0.25, Math.min(4, rate));
    this.report();
  }

  private mediaMenu(): MenuItem[] {
    return [
      { name: 'Save Playlist', run: () => this.askSavePlaylist() },
      { name: 'Clear Playlist', run: () => this.clearPlaylist() },
    ];
  }

  private playbackMenu(): MenuItem[] {
    return [
      { name: 'Play', run: () => this.playOrPause() },
      { name: 'Stop', run: () => this.stop() },
      { name: 'Faster', run: () => this.setRate(this.rate * 2) },
      { name: 'Slower', run: () => this.setRate(this.rate / 2) },
    ];
  }

  private clearPlaylist(): void {
    this.songs = [];
    this.selected = null;
    this.stop();
  }

  private askSavePlaylist(): void {
    const question = {
      title: 'Save Playlist',
      button: 'Save',
      path: null,
      fallback: '',
      folder: MUSIC,
      extension: '.m3u',
    };
    askSave(this.system, question, (path) => {
      this.system.vfs.write(path, this.songs.map((song) => `${song}\n`).join(''));
    });
  }

  private askPreferences(): void {
    const lines = new Map<string, string>();
    for (const line of (this.system.vfs.readText(`${CONFIG}/vlcrc`) ?? '').split('\n')) {
      const at = line.indexOf('=');
      if (at > 0 && !line.startsWith('#')) lines.set(line.slice(0, at), line.slice(at + 1));
    }
    const checks = PREFERENCES.map(([name, key, initially]) => {
      const value = lines.get(key);
      return { kind: 'check' as const, name, key, on: value === undefined ? initially : value === '1' };
    });
    const folder = new Field(lines.get('input-record-path') ?? '');
    const run = () => {
      for (const { key, on } of checks) lines.set(key, on ? '1' : '0');
      lines.set('input-record-path', folder.text);
      this.system.vfs.write(`${CONFIG}/vlcrc`, [...lines].map(([key, value]) => `${key}=${value}\n`).join(''));
    };
    const rows = this.system.order('vlc preferences', checks, (c) => c.name);
    const entry = { kind: 'entry' as const, name: 'Folder', field: folder };
    this.system.showDialog({
      title: 'Preferences',
      rows: [...rows, entry],
      buttons: [{ name: 'Save', run }, { name: 'Cancel' }],
    });
  }

  /** Leaves the player's state as VLC's web interface would tell it. */
  private report(): void {
    const volume = Math.round((this.volume * 256) / 100);
    const name = this.loaded ? `<info name="filename">${this.loaded}</info>` : '';
    const xml =
      `<root><state>${this.state}</state><volume>${volume}</volume><loop>${this.loop}</loop><random>${this.random}</random>` +
      `<rate>${this.rate}</rate><information><category name="meta">${name}</category></information></root>\n`;
    this.system.vfs.write(`${CONFIG}/status.xml`, xml);
  }
}
