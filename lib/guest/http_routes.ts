import { accessibilityXml } from './accessibility_xml.ts';
import type { ResettableGuest } from './guest.ts';
import { BadRequest } from './http_body.ts';
import { type Call, type Handler, type Reply, say } from './http_call.ts';
import { text, windowMatch } from './http_fields.ts';
import { changeWallpaper, downloadFile, listDirectory, openFile, readFile, upload, wallpaper } from './http_files.ts';
import { execute, executeWithVerification, launch, runBash, runPython } from './http_programs.ts';
import { within } from './took_too_long.ts';

export interface Route {
  method: 'GET' | 'POST';
  handler: Handler;
  /** Status of a failure of the desktop; 500 where it is absent. */
  failure?: number;
}

/** A desktop that hangs keeps those who come after from its lane no longer than this, ms. */
const SCREEN_MS = 30_000;
const TREE_MS = 120_000;
const RESET_MS = 300_000;

const get = (handler: Handler, failure?: number): Route => ({ method: 'GET', handler, failure });
const post = (handler: Handler): Route => ({ method: 'POST', handler });

/** OSWorld's endpoints (reference/osworld.md §1), and two of our own: `/windows`, `/reset`. docs/guest-server.md. */
export const ROUTES: Readonly<Record<string, Route>> = {
  // As OSWorld's second server: a screen that cannot be taken now may be there a moment later.
  '/screenshot': get(screenshot, 503),
  '/accessibility': get(accessibility),
  '/terminal': get(terminal),
  '/platform': get(async ({ guest }) => say(await guest.platform())),
  '/cursor_position': get(async ({ guest }) => ({ json: await guest.cursorPosition() })),
  '/windows': get(windows),
  '/execute': post(execute),
  '/setup/execute': post(execute),
  '/execute_with_verification': post(executeWithVerification),
  '/setup/execute_with_verification': post(executeWithVerification),
  '/run_python': post(runPython),
  '/run_bash_script': post(runBash),
  '/setup/launch': post(launch),
  '/setup/upload': post(upload),
  '/file': post(readFile),
  '/list_directory': post(listDirectory),
  '/setup/open_file': post(openFile),
  '/setup/download_file': post(downloadFile),
  '/setup/change_wallpaper': post(changeWallpaper),
  '/wallpaper': post(wallpaper),
  '/setup/activate_window': post(activateWindow),
  '/setup/close_window': post(closeWindow),
  '/screen_size': post(async ({ guest }) => ({ json: { width: guest.screen.width, height: guest.screen.height } })),
  '/window_size': post(windowSize),
  '/desktop_path': post(async ({ guest }) => ({ json: { desktop_path: await guest.desktopPath() } })),
  '/start_recording': post(startRecording),
  '/end_recording': post(endRecording),
};

/** Resets the desktop, for those that can be: `POST /reset`. It goes past the other requests, and stops them. */
export async function reset({ guest, body, lanes, state }: Omit<Call, 'signal'>): Promise<Reply> {
  if (!('reset' in guest) || typeof guest.reset !== 'function') {
    throw new BadRequest(404, 'this desktop cannot be reset');
  }
  const { seed } = body;
  if (typeof seed !== 'number' || !Number.isSafeInteger(seed)) throw new BadRequest(400, 'seed must be a whole number');
  await lanes.reset(guest.id, async () => {
    await within(guest.id, RESET_MS, (guest as ResettableGuest).reset(seed), 'the reset');
    state.recording = false;
  });
  return { json: { status: 'success' } };
}

async function screenshot({ guest, lanes, signal }: Call): Promise<Reply> {
  const frame = await lanes.inLane('screen', signal, () =>
    within(guest.id, SCREEN_MS, guest.screenshot(), 'the screenshot'),
  );
  return { bytes: frame.png(), type: 'image/png' };
}

async function accessibility({ guest, lanes, signal }: Call): Promise<Reply> {
  const tree = await lanes.inLane('tree', signal, () =>
    within(guest.id, TREE_MS, guest.accessibility(), 'the walk through the accessibility tree'),
  );
  return { json: { AT: accessibilityXml(tree) } };
}

async function terminal({ guest, lanes, signal }: Call): Promise<Reply> {
  const output = await lanes.inLane('tree', signal, () =>
    within(guest.id, TREE_MS, guest.terminalOutput(), 'the look at the terminal'),
  );
  return { json: { output, status: 'success' } };
}

async function windows({ guest }: Call): Promise<Reply> {
  return { json: (await guest.windows()).map(({ title, wmClass }) => ({ title, wm_class: wmClass })) };
}

async function windowSize({ guest, body }: Call): Promise<Reply> {
  const name = text(body, 'app_class_name');
  const size = await guest.windowSize(name);
  // OSWorld's server fails here, and its clients take that for "no such window".
  if (size === null) throw new BadRequest(500, `no window has the class ${name}`);
  return { json: { width: size.width, height: size.height } };
}

async function activateWindow({ guest, body }: Call): Promise<Reply> {
  await guest.activateWindow(text(body, 'window_name'), windowMatch(body));
  return say('Window activated successfully');
}

async function closeWindow({ guest, body }: Call): Promise<Reply> {
  await guest.closeWindow(text(body, 'window_name'), windowMatch(body));
  return say('Window closed successfully.');
}

async function startRecording({ guest, state }: Call): Promise<Reply> {
  if (state.recording) throw new BadRequest(400, 'Recording is already in progress.');
  state.recording = true;
  try {
    await guest.startRecording();
  } catch (error) {
    state.recording = false;
    throw error;
  }
  return { json: { status: 'success', message: 'Started recording successfully.' } };
}

async function endRecording({ guest, state }: Call): Promise<Reply> {
  if (!state.recording) throw new BadRequest(400, 'No recording in progress to stop.');
  state.recording = false;
  return { bytes: await guest.endRecording(), type: 'video/mp4' };
}
