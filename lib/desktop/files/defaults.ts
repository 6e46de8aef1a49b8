import { encodeRgb } from '../apps/gimp/picture.ts';
import { HOME, Vfs } from './vfs.ts';

const SONGS = ['rain', 'moon', 'star', 'wind', 'fire', 'snow', 'leaf', 'rock', 'wave', 'sand'];

const MAILS: [string, string, string][] = [
  ['ann', 'lunch', 'lunch at noon?'],
  ['bob', 'invoice', 'please pay 40'],
  ['eve', 'party', 'come on friday'],
  ['joe', 'meeting', 'room 12 at ten'],
  ['sue', 'photos', 'from the lake'],
];

const TEXTS: Record<string, string> = {
  'Documents/notes.txt': 'milk\nbread\ntea\n',
  'Documents/todo.txt': 'call bob\npay rent\n',
  'Documents/report.md': 'summer report\nsales went up\ncosts went down\n',
  'Documents/data.csv': 'name,qty,price\npear,3,2\nfig,5,4\nplum,2,6\n',
  'Downloads/paper.txt': 'paper\n',
  'Downloads/old.txt': 'old\n',
  'Videos/clip.mp4': 'clip\n',
};

const SLIDES = ['intro', 'plan', 'budget'].map((title) => ({
  title,
  text: '',
  notes: '',
  background: 'white',
  hidden: false,
}));

export const MAIL_FOLDERS = ['Inbox', 'Drafts', 'Sent', 'Archive', 'Junk', 'Trash'];
export const MAIL_ROOT = `${HOME}/.thunderbird/profile.default/Mail/Local Folders`;

/** A picture drawn by rule: sky, ground and one shape, different for each kind. */
function samplePicture(kind: 'photo' | 'cat'): Uint8Array {
  const width = 28;
  const height = 18;
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = kind === 'photo' ? landscape(x, y) : cat(x, y);
      rgb.set(colour, (y * width + x) * 3);
    }
  }
  return encodeRgb({ width, height, rgb });
}

function landscape(x: number, y: number): number[] {
  if ((x - 6) ** 2 + (y - 5) ** 2 < 10) return [255, 240, 0];
  if (y > 12) return [20, 140, 30];
  if (y > 5 + Math.abs(x - 19)) return [128, 128, 128];
  return [128, 190, 255];
}

function cat(x: number, y: number): number[] {
  const head = (x - 12) ** 2 + ((y - 10) * 1.2) ** 2 < 40;
  const ears = y > 1 && y < 7 && (Math.abs(x - 8) < y - 1 || Math.abs(x - 16) < y - 1) && Math.abs(x - 12) < 8;
  const eyes = y > 7 && y < 10 && (x === 9 || x === 15);
  if (eyes) return [0, 255, 0];
  if (head || ears) return [88, 88, 88];
  return x > 21 ? [255, 128, 128] : [232, 232, 232];
}

function inbox(): string {
  return MAILS.map(
    ([from, subject, body]) =>
      `From - \nX-Mozilla-Status: 0000\nFrom: ${from}@mail.test\nTo: user@mail.test\nSubject: ${subject}\n\n${body}\n\n`,
  ).join('');
}

let template: Vfs | null = null;

/** The file system of a fresh desktop; made once, then copied. */
export function freshFiles(): Vfs {
  template ??= buildFiles();
  return new Vfs(template);
}

function buildFiles(): Vfs {
  const vfs = new Vfs();
  for (const folder of ['Desktop', 'Documents', 'Downloads', 'Pictures', 'Music', 'Videos', '.config']) {
    vfs.makeFolder(`${HOME}/${folder}`);
  }
  for (const folder of ['/tmp', '/etc', '/usr/bin']) vfs.makeFolder(folder);
  for (const [path, text] of Object.entries(TEXTS)) vfs.write(`${HOME}/${path}`, text);
  for (const song of SONGS) vfs.write(`${HOME}/Music/${song}.mp3`, `${song}\n`);
  for (const kind of ['photo', 'cat'] as const) vfs.write(`${HOME}/Pictures/${kind}.png`, samplePicture(kind));
  vfs.write(`${HOME}/Documents/deck.odp`, `${JSON.stringify({ slides: SLIDES })}\n`);
  for (const folder of MAIL_FOLDERS) vfs.write(`${MAIL_ROOT}/${folder}`, folder === 'Inbox' ? inbox() : '');
  vfs.write('/etc/hostname', 'desktop\n');
  return vfs;
}
