/** A setting that is on or off. */
export interface SwitchSetting {
  page: string;
  name: string;
  schema: string;
  key: string;
  on: string;
  off: string;
  /** Whether it is on in a fresh desktop. */
  initially: boolean;
}

const GSD = 'org.gnome.settings-daemon.plugins';
const DESKTOP = 'org.gnome.desktop';
const DASH = 'org.gnome.shell.extensions.dash-to-dock';

/** Page, name, schema, key, initially on, and values where they are not `true` and `false`. */
const ROWS: [string, string, string, string, boolean, string?, string?][] = [
  ['Network', 'Wifi', 'system.network', 'wifi', true],
  ['Network', 'Bluetooth', 'system.network', 'bluetooth', true],
  ['Network', 'Airplane', 'system.network', 'airplane', false],
  ['Network', 'Proxy', 'org.gnome.system.proxy', 'mode', false, "'manual'", "'none'"],
  ['Display', 'Dark Mode', `${DESKTOP}.interface`, 'color-scheme', false, "'prefer-dark'", "'default'"],
  ['Display', 'Night Light', `${GSD}.color`, 'night-light-enabled', false],
  ['Display', 'Large Text', `${DESKTOP}.interface`, 'text-scaling-factor', false, '1.25', '1.0'],
  ['Display', 'Animations', `${DESKTOP}.interface`, 'enable-animations', true],
  ['Sound', 'Mute', `${DESKTOP}.sound`, 'output-muted', false],
  ['Sound', 'Alerts', `${DESKTOP}.sound`, 'event-sounds', true],
  ['Sound', 'Boost', `${DESKTOP}.sound`, 'allow-volume-above-100-percent', false],
  ['Power', 'Dim Screen', `${GSD}.power`, 'idle-dim', true],
  ['Power', 'Power Saver', `${GSD}.power`, 'power-saver-profile-on-low-battery', false],
  ['Power', 'Suspend', `${GSD}.power`, 'sleep-inactive-ac-type', false, "'suspend'", "'nothing'"],
  ['Privacy', 'Screen Lock', `${DESKTOP}.screensaver`, 'lock-enabled', true],
  ['Privacy', 'Location', 'org.gnome.system.location', 'enabled', false],
  ['Privacy', 'Banners', `${DESKTOP}.notifications`, 'show-banners', true],
  ['Privacy', 'Remember', `${DESKTOP}.privacy`, 'remember-recent-files', true],
  ['Desktop', 'Hide Dock', DASH, 'autohide', false],
  ['Desktop', 'Show Trash', DASH, 'show-trash', true],
];

export const SWITCHES: readonly SwitchSetting[] = ROWS.map(
  ([page, name, schema, key, initially, on = 'true', off = 'false']) => ({
    page,
    name,
    schema,
    key,
    on,
    off,
    initially,
  }),
);

export const SETTINGS_PAGES = ['Network', 'Display', 'Sound', 'Power', 'Privacy', 'Desktop', 'Defaults'] as const;

export const VOLUME = { schema: `${DESKTOP}.sound`, key: 'volume', initially: 50 };
export const WALLPAPER = {
  schema: `${DESKTOP}.background`,
  key: 'primary-color',
  names: ['Blue', 'Green', 'Purple', 'Orange'],
};
export const FAVOURITES = { schema: 'org.gnome.shell', key: 'favorite-apps' };

/** Default applications that can be chosen: radio-button, MIME type, application. */
export const DEFAULT_APPS = [
  { name: 'Text Code', type: 'text/plain', app: 'code' },
  { name: 'Text Writer', type: 'text/plain', app: 'writer' },
  { name: 'Image GIMP', type: 'image/png', app: 'gimp' },
  { name: 'Image Chrome', type: 'image/png', app: 'google-chrome' },
] as const;

/** What `gsettings get` prints before anyone changed anything, by `schema key`. */
export const SETTING_DEFAULTS: ReadonlyMap<string, string> = new Map([
  ...SWITCHES.map((s): [string, string] => [`${s.schema} ${s.key}`, s.initially ? s.on : s.off]),
  [`${VOLUME.schema} ${VOLUME.key}`, String(VOLUME.initially)],
  [`${WALLPAPER.schema} ${WALLPAPER.key}`, "'blue'"],
]);
