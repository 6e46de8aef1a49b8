import { type FetchedFile, taskError } from '../context.ts';
import type { Getter } from '../kinds.ts';
import { guestFile } from './files.ts';

const HOME = '/home/user';
/** VLC's web interface as OSWorld's image starts it: port 8080, no user, password "password". */
const STATUS_COMMAND = ['curl', '-s', '-u', ':password', 'http://localhost:8080/requests/status.xml'];

/** VLC's status as XML: the embedded player keeps it in a file, a real one answers on its web interface. */
const playingInfo: Getter = async (_config, context): Promise<FetchedFile | null> => {
  const kept = await guestFile(`${HOME}/.config/vlc/status.xml`, context);
  if (kept !== null) return kept;
  const asked = await context.guest.execute(STATUS_COMMAND);
  if (asked.returncode === 0 && asked.output.includes('<root>')) {
    return { name: 'status.xml', bytes: Buffer.from(asked.output, 'utf8') };
  }
  return null;
};

/** `~/.config/vlc/vlcrc`. */
const vlcConfig: Getter = (_config, context) => guestFile(`${HOME}/.config/vlc/vlcrc`, context);

/** `{file_name}` of GIMP's configuration folder. */
const gimpConfig: Getter = (config, context) =>
  guestFile(`${HOME}/.config/GIMP/2.10/${config.text('file_name')}`, context);

/** `{vscode_extension_command, path}`: runs the command from the palette, then reads the file that it wrote. */
const vscodeConfig: Getter = async (config, context) => {
  const { guest } = context;
  if (!config.has('path')) throw taskError(context, `${config.owner}: no path to read`);
  await guest.activateWindow('Visual Studio Code');
  await guest.act({ type: 'hotkey', keys: ['ctrl', 'shift', 'p'] });
  await guest.act({ type: 'type', text: config.text('vscode_extension_command') });
  await guest.act({ type: 'hotkey', keys: ['enter'] });
  return guestFile(config.text('path'), context);
};

export const mediaGetters: Record<string, Getter> = {
  vlc_playing_info: playingInfo,
  vlc_config: vlcConfig,
  gimp_config_file: gimpConfig,
  vscode_config: vscodeConfig,
};
