import { setTimeout as delay } from 'node:timers/promises';
import { AnySignal } from '../../stream/any_signal.ts';
import { type FetchedFile, type TaskContext, taskError } from '../context.ts';
import type { Getter } from '../kinds.ts';
import { guestFile } from './files.ts';

/** The home folder: the one that the desktop lies in. */
async function homeOf({ guest }: TaskContext): Promise<string> {
  return (await guest.desktopPath()).replace(/\/[^/]*\/?$/, '');
}

async function homeFile(path: string, context: TaskContext): Promise<FetchedFile | null> {
  return guestFile(`${await homeOf(context)}/${path}`, context);
}

/** VLC's web interface as OSWorld's image starts it: port 8080, no user, password "password". */
const AUTHORISATION = `Basic ${Buffer.from(':password').toString('base64')}`;
const STATUS_PATH = 'requests/status.xml';
const STATUS_COMMAND = ['curl', '-s', '-u', ':password', `http://localhost:8080/${STATUS_PATH}`];
const STATUS_LIMIT_MS = 10_000;

/**
 * VLC's status as XML: the embedded player keeps it in a file, a real one answers on its web interface, which is asked
 * from here where the desktop publishes it, else from inside. Null where nothing answers.
 */
const playingInfo: Getter = async (_config, context) => {
  const kept = await homeFile('.config/vlc/status.xml', context);
  if (kept !== null) return kept;
  const text = context.vlcUrl === undefined ? await askInside(context) : await askPublished(context.vlcUrl, context);
  return text?.includes('<root>') ? { name: 'status.xml', bytes: Buffer.from(text, 'utf8') } : null;
};

async function askInside({ guest }: TaskContext): Promise<string | null> {
  const asked = await guest.execute(STATUS_COMMAND);
  return asked.returncode === 0 ? asked.output : null;
}

async function askPublished(url: string, { signal }: TaskContext): Promise<string | null> {
  const address = new URL(STATUS_PATH, url.endsWith('/') ? url : `${url}/`);
  const ended = new AnySignal([signal], STATUS_LIMIT_MS);
  try {
    const answer = await fetch(address, { headers: { authorization: AUTHORISATION }, signal: ended.signal });
    return answer.ok ? await answer.text() : null;
  } catch {
    // Nothing listens where no player runs.
    signal?.throwIfAborted();
    return null;
  } finally {
    ended.release();
  }
}

/** `~/.config/vlc/vlcrc`. */
const vlcConfig: Getter = (_config, context) => homeFile('.config/vlc/vlcrc', context);

/** `{file_name}` of GIMP's configuration folder. */
const gimpConfig: Getter = (config, context) => homeFile(`.config/GIMP/2.10/${config.text('file_name')}`, context);

/** Seconds that VS Code takes to come to the front, and to write the file. */
const [TO_FRONT_MS, TO_WRITE_MS] = [500, 1000];

/**
 * `{vscode_extension_command, path}`: runs the command from the palette, then reads the file that it wrote. Without
 * one, what VS Code keeps about its workspaces; null where it keeps nothing.
 */
const vscodeConfig: Getter = async (config, context) => {
  const { guest } = context;
  if (!config.has('path')) throw taskError(context, `${config.owner}: no path to read`);
  await guest.activateWindow('Visual Studio Code');
  await pause(TO_FRONT_MS, context);
  await guest.act({ type: 'hotkey', keys: ['ctrl', 'shift', 'p'] });
  await guest.act({ type: 'type', text: config.text('vscode_extension_command') });
  await guest.act({ type: 'hotkey', keys: ['enter'] });
  await pause(TO_WRITE_MS, context);
  return (await guestFile(config.text('path'), context)) ?? (await workspaces(context));
};

async function workspaces(context: TaskContext): Promise<FetchedFile | null> {
  const folder = `${await homeOf(context)}/.config/Code/User/workspaceStorage`;
  const found = await context.guest.execute(['find', folder, '-name', 'workspace.json', '-exec', 'cat', '{}', ';']);
  return found.output === '' ? null : { name: 'workspace.json', bytes: Buffer.from(found.output, 'utf8') };
}

async function pause(ms: number, { protocol, signal }: TaskContext): Promise<void> {
  const scaled = ms * protocol.sleepScale;
  if (scaled > 0) await delay(scaled, undefined, { signal });
}

const VIDEO_TYPES = [
  ...['3gp', '3gpp', '3gpp2', 'avi', 'divx', 'dv', 'fli', 'flv', 'mp2t', 'mp4', 'mp4v-es', 'mpeg', 'mpeg-system'],
  ...['msvideo', 'ogg', 'quicktime', 'vnd.divx', 'vnd.mpegurl', 'vnd.rn-realvideo', 'webm', 'x-anim', 'x-avi', 'x-flc'],
  ...['x-fli', 'x-flv', 'x-m4v', 'x-matroska', 'x-mpeg', 'x-mpeg-system', 'x-mpeg2', 'x-ms-asf', 'x-ms-asf-plugin'],
  ...['x-ms-asx', 'x-ms-wm', 'x-ms-wmv', 'x-ms-wmx', 'x-ms-wvx', 'x-msvideo', 'x-nsv', 'x-ogm', 'x-ogm+ogg'],
  ...['x-theora', 'x-theora+ogg'],
];

/** The program that most types of video open in, as `xdg-mime` prints it; `unknown` where none does. */
const videoPlayer: Getter = async (_config, { guest }) => {
  const counts = new Map<string, number>();
  for (const type of VIDEO_TYPES) {
    const { output } = await guest.execute(['xdg-mime', 'query', 'default', `video/${type}`]);
    if (output !== '') counts.set(output, (counts.get(output) ?? 0) + 1);
  }
  const most = Math.max(0, ...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0] ?? 'unknown';
};

export const mediaGetters: Record<string, Getter> = {
  vlc_playing_info: playingInfo,
  vlc_config: vlcConfig,
  gimp_config_file: gimpConfig,
  vscode_config: vscodeConfig,
  default_video_player: videoPlayer,
};
