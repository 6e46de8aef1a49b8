import { DartError } from '../../errors.ts';
import { delay } from '../../stream/timer.ts';
import type {
  AccessibleNode,
  Action,
  DirectoryTree,
  ExecuteOptions,
  ExecuteResult,
  Frame,
  GuestWindow,
  ResettableGuest,
  RunOptions,
  ScriptOptions,
  Size,
  WindowMatch,
} from '../guest.ts';
import { needsPython, playScript, pythonCode, readScript } from '../play.ts';
import { deedsOf } from './deeds.ts';
import { UserFiles } from './files.ts';
import { HomePaths } from './paths.ts';
import { frameOf } from './picture.ts';
import { Recorder } from './recorder.ts';
import { Session, type SessionOptions } from './session.ts';
import { focusedTerminal } from './terminal.ts';
import { withUnseenWindows } from './unseen.ts';
import { readWallpaper, showWallpaper } from './wallpaper.ts';
import { matching, namesFile, type X11Window } from './windows.ts';
import { splitWords } from './words.ts';

/** The limits of OSWorld's server, ms. */
const PYTHON_MS = 30_000;
const BASH_MS = 100_000;
const OPEN_MS = 1_800_000;
/** How long the accessibility tree may take, s. */
const TREE_SECONDS = 20;
const LOOK_MS = 100;
/** After an action, as pyautogui pauses: a menu needs a moment until something in it can be clicked. */
const PAUSE_MS = 100;

/** A real desktop under an X server of its own: what runs in our image, and under Xvfb on the host (design §5). */
export class X11Guest implements ResettableGuest {
  readonly id: string;
  readonly screen: Size;
  readonly session: Session;
  readonly #paths: HomePaths;
  readonly #recorder: Recorder;

  private constructor(id: string, session: Session) {
    this.id = id;
    this.session = session;
    this.screen = session.size;
    this.#paths = new HomePaths(session.home);
    this.#recorder = new Recorder(id);
  }

  /** @throws DartError where the machine lacks something, with the next step. */
  static async start(id: string, options: Omit<SessionOptions, 'where'>): Promise<X11Guest> {
    return new X11Guest(id, await Session.start({ ...options, where: id }));
  }

  /** A clean home and a fresh session. Programs are what they are: nothing in them follows the seed. */
  async reset(_seed: number): Promise<void> {
    this.#recorder.drop();
    await this.session.restart();
  }

  async screenshot(): Promise<Frame> {
    return frameOf((await this.session.screen('screenshot')) as Buffer, this.screen);
  }

  async accessibility(): Promise<AccessibleNode> {
    const { root } = (await this.session.tree(TREE_SECONDS)) as { root: AccessibleNode };
    return withUnseenWindows(root, await this.#windows(), this.screen);
  }

  async act(action: Action): Promise<void> {
    const deeds = deedsOf(action);
    if (deeds.length > 0) await this.session.screen('play', { deeds });
    const pauseMs = action.type === 'wait' ? (action.ms ?? 0) : deeds.length > 0 ? PAUSE_MS : 0;
    if (pauseMs > 0) await delay(pauseMs);
  }

  async execute(command: string | string[], options: ExecuteOptions = {}): Promise<ExecuteResult> {
    const argv = this.#argv(command, options.shell);
    const code = pythonCode(argv);
    if (code !== null && !needsPython(code)) {
      // What is only calls of pyautogui is played at once, without a Python that takes longer to start than to click.
      const actions = await readScript(this, code);
      if (!(actions instanceof DartError)) return playScript(this, actions, options.signal);
    }
    return this.session.programs.run(argv, { limitMs: options.timeoutMs, signal: options.signal });
  }

  async runPython(code: string, { timeoutMs = PYTHON_MS, signal }: RunOptions = {}): Promise<ExecuteResult> {
    return this.#script(['python3'], code, { limitMs: timeoutMs, signal });
  }

  async runBash(script: string, options: ScriptOptions = {}): Promise<ExecuteResult> {
    const { timeoutMs = BASH_MS, signal, workingDir } = options;
    const cwd = workingDir === undefined ? undefined : this.#paths.inPath(workingDir);
    return this.#script(['/bin/bash'], script, { limitMs: timeoutMs, signal, cwd, merged: true });
  }

  async launch(command: string | string[], options: ExecuteOptions = {}): Promise<void> {
    await this.session.programs.launch(this.#argv(command, options.shell));
  }

  async readFile(path: string): Promise<Uint8Array | null> {
    return this.#files.read(this.#paths.inPath(path));
  }

  async writeFile(path: string, data: Uint8Array): Promise<void> {
    await this.#files.write(this.#paths.inPath(path), data);
  }

  async listDirectory(path: string): Promise<DirectoryTree | null> {
    return this.#files.list(this.#paths.inPath(path));
  }

  /** Opens the file with its application, and waits until a window is there whose title has the file's name. */
  async openFile(path: string): Promise<void> {
    const whole = this.#paths.inPath(path);
    if (!(await this.#files.exists(whole))) {
      throw new DartError(`there is no file ${path} to open`, { where: this.id, hint: 'write it before' });
    }
    await this.session.programs.launch(['xdg-open', whole]);
    const end = performance.now() + OPEN_MS;
    while (performance.now() < end) {
      const window = (await this.#windows()).find(({ title }) => namesFile(title, whole));
      if (window) return void (await this.session.screen('activate', { window: window.id }));
      await delay(LOOK_MS);
    }
    throw new DartError(`no window shows ${path} after ${OPEN_MS / 60_000} minutes`, { where: this.id });
  }

  async windows(): Promise<GuestWindow[]> {
    return (await this.#windows()).map(({ title, wmClass }) => ({ title, wmClass }));
  }

  async windowSize(appClass: string): Promise<Size | null> {
    const wanted = appClass.toLowerCase();
    const named = (await this.#windows()).filter(({ wmClass }) => wmClass.toLowerCase().split('.').includes(wanted));
    const found = named.find(({ active }) => active) ?? named[0];
    return found ? { width: found.width, height: found.height } : null;
  }

  /** As OSWorld's server does: no window of that name is no error. */
  async activateWindow(name: string, match: WindowMatch = {}): Promise<void> {
    const window = matching(await this.#windows(), name, match);
    if (window) await this.session.screen('activate', { window: window.id });
  }

  async closeWindow(name: string, match: WindowMatch = {}): Promise<void> {
    const window = matching(await this.#windows(), name, match);
    if (window) await this.session.screen('close', { window: window.id });
  }

  async terminalOutput(): Promise<string | null> {
    return focusedTerminal(await this.accessibility());
  }

  async wallpaper(): Promise<Uint8Array | null> {
    return readWallpaper(this);
  }

  async setWallpaper(path: string): Promise<void> {
    const whole = this.#paths.inPath(path);
    if (!(await this.#files.exists(whole))) throw new DartError(`there is no picture ${path}`, { where: this.id });
    await showWallpaper(this, whole);
  }

  async desktopPath(): Promise<string> {
    return `${this.session.home}/Desktop`;
  }

  async cursorPosition(): Promise<[x: number, y: number]> {
    return (await this.session.screen('pointer')) as [number, number];
  }

  async platform(): Promise<string> {
    return 'Linux';
  }

  async startRecording(): Promise<void> {
    const { programs, display, folder } = this.session;
    await this.#recorder.start(programs, display, this.screen, `${folder}/tmp`);
  }

  async endRecording(): Promise<Uint8Array> {
    return this.#recorder.end();
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  get #files(): UserFiles {
    return new UserFiles(this.session.programs, this.id);
  }

  async #windows(): Promise<X11Window[]> {
    return (await this.session.screen('windows')) as X11Window[];
  }

  /** As OSWorld's server takes commands: a line is split into words where no shell is asked for. */
  #argv(command: string | string[], shell = typeof command === 'string'): string[] {
    const words = (typeof command === 'string' ? [command] : command).map((word) => this.#paths.inText(word));
    if (shell) return ['/bin/sh', '-c', ...words];
    const split = typeof command === 'string' ? splitWords(words[0]!) : words;
    if (split.length === 0 || split[0] === '') throw new DartError('the command is empty', { where: this.id });
    return split.map((word) => (word.startsWith('~/') ? this.#paths.inPath(word) : word));
  }

  async #script(interpreter: string[], text: string, settings: Parameters<Session['programs']['run']>[1]) {
    const { programs } = this.session;
    const path = programs.script(this.#paths.inText(text));
    try {
      return await programs.run([...interpreter, path], settings);
    } finally {
      programs.forget(path);
    }
  }
}
