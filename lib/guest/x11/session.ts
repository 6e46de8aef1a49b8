import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DartError } from '../../errors.ts';
import type { Size } from '../guest.ts';
import { type Core, READY_MS, readyLine, startCore } from './core.ts';
import { Helper } from './helper.ts';
import { claimHome, restoreHome } from './home.ts';
import { type DesktopPrograms, desktopPrograms, findProgram, imageFolder, pythonModules } from './machine.ts';
import { endProcesses, FOLDER_PREFIX, removeDisplay, removeLeftDesktops, writeOwner } from './owner.ts';
import { Programs } from './programs.ts';
import type { DesktopUser } from './user.ts';
import { desktopVariables } from './variables.ts';
import { xauthority } from './xauthority.ts';

export interface SessionOptions {
  /** Names the desktop in messages. */
  where: string;
  size: Size;
  user: DesktopUser;
  /** Emptied at every reset; a temporary folder where it is absent. */
  home?: string;
  /** What a fresh home has beside the usual folders. */
  skeleton?: string;
  /** Number of the X display; any that is free where it is absent. */
  display?: number;
  /** Shell commands that are started with the session: a panel, a program that draws the desktop. */
  start?: readonly string[];
  /** More variables for its programs. */
  variables?: Readonly<Record<string, string>>;
}

/** How often a window manager that ended is started again. */
const MAX_RESTARTS = 5;
const LOOK_MS = 20;
const DEPTH = 24;

/**
 * A desktop's programs: an X server of its own on a free display, a message bus, the accessibility bus, a window manager,
 * and whatever is started in it. All carry one mark in their environment, by which they are found and ended: at a reset,
 * at the end, by a watcher when the server is killed, and at the latest when the next desktop is started.
 */
export class Session {
  readonly where: string;
  readonly size: Size;
  readonly home: string;
  readonly id = randomBytes(8).toString('hex');
  /** Only its subfolders `run` and `tmp` belong to the user. */
  readonly folder: string;
  readonly #options: SessionOptions;
  readonly #machine: DesktopPrograms;
  readonly #watcher: ChildProcess;
  #programs: Programs;
  #variables: Record<string, string>;
  #display: string | null;
  #hands: Helper;
  #eyes: Helper;
  #restarts = 0;
  /** Those of before a restart have another number, and are not missed. */
  #round = 0;
  #broken: DartError | null = null;
  /** Whether a part has ended without which there is no desktop, since the last start. */
  #lost = false;

  private constructor(options: SessionOptions, machine: DesktopPrograms, folder: string) {
    this.#options = options;
    this.#machine = machine;
    this.folder = folder;
    this.where = options.where;
    this.size = options.size;
    this.home = options.home ?? join(folder, 'home');
    this.#display = options.display === undefined ? null : `:${options.display}`;
    this.#variables = {};
    this.#programs = this.#programsWith({});
    this.#hands = this.#helper('display');
    this.#eyes = this.#helper('tree');
    this.#watcher = this.#watch();
  }

  /** @throws DartError where the machine lacks something, or a part does not start: nothing is left then. */
  static async start(options: SessionOptions): Promise<Session> {
    const machine = desktopPrograms();
    await removeLeftDesktops();
    const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
    const session = new Session(options, machine, folder);
    try {
      session.#furnish();
      await session.#begin();
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** `:7` */
  get display(): string {
    return this.#display ?? '';
  }

  get programs(): Programs {
    this.#check();
    return this.#programs;
  }

  /** Asks the helper that sees and touches the screen. */
  async screen(op: string, fields?: Record<string, unknown>): Promise<unknown> {
    this.#check();
    return this.#hands.request(op, fields);
  }

  /** The accessibility tree, as `dart_x11/tree.py` gives it, after at most so many seconds and a little. */
  async tree(seconds: number): Promise<unknown> {
    this.#check();
    return this.#eyes.request('tree', { seconds }, seconds * 1000 + 10_000);
  }

  /** All programs are ended, the home is as at the beginning, and the session starts anew. */
  async restart(): Promise<void> {
    await this.#stop();
    await this.#begin();
  }

  /** Ends all of it; nothing is left. */
  async close(): Promise<void> {
    this.#broken ??= new DartError('the desktop is closed', { where: this.where });
    await this.#stop();
    removeDisplay(this.#display);
    this.#watcher.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Folders, helpers of the user's Python, and the names by which programs are called. */
  #furnish(): void {
    const { user, home } = this.#options;
    chmodSync(this.folder, 0o711);
    writeOwner(this.folder, this.id);
    for (const name of ['bin', 'server']) mkdirSync(join(this.folder, name), { mode: 0o755 });
    chmodSync(join(this.folder, 'server'), 0o711);
    for (const name of pythonModules(this.#machine.python)) {
      cpSync(join(imageFolder('python'), name), join(this.folder, 'python', name), { recursive: true });
    }
    const aliases = { python: ['python3'], 'google-chrome': ['google-chrome-stable', 'chromium'] };
    for (const [name, others] of Object.entries(aliases)) {
      const program = others.map(findProgram).find((path) => path !== null);
      if (findProgram(name) === null && program) symlinkSync(program, join(this.folder, 'bin', name));
    }
    claimHome(home ?? this.home, user);
  }

  async #begin(): Promise<void> {
    const { user, skeleton = null, variables = {}, start = [] } = this.#options;
    this.#round += 1;
    this.#restarts = 0;
    this.#lost = false;
    this.#freshFolders(user);
    this.#programs = this.#programsWith(variables);
    await restoreHome(this.home, skeleton, this.#programs);
    await Promise.all([this.#startDisplay(), this.#startBus()]);
    this.#programs = this.#programsWith({ DISPLAY: this.display, ...variables });
    await this.#tellBus();
    await Promise.all([this.#startAccessibility(), this.#startWindowManager()]);
    this.#broken = null;
    for (const command of start) await this.#programs.launch(['/bin/sh', '-c', command]);
  }

  async #stop(): Promise<void> {
    this.#round += 1;
    this.#broken ??= new DartError('the desktop is being reset', { where: this.where, hint: 'another reset' });
    this.#hands.close();
    this.#eyes.close();
    this.#hands = this.#helper('display');
    this.#eyes = this.#helper('tree');
    await endProcesses(this.id);
  }

  #freshFolders(user: DesktopUser): void {
    for (const name of ['run', 'tmp']) {
      const path = join(this.folder, name);
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path, { mode: 0o700 });
      if (process.getuid?.() === 0) chownSync(path, user.uid, user.gid);
    }
    const cookie = join(this.folder, 'run', 'xauthority');
    writeFileSync(cookie, xauthority(), { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(cookie, user.uid, user.gid);
  }

  #programsWith(variables: Record<string, string>): Programs {
    const { user } = this.#options;
    const own = process.env;
    this.#variables = {
      ...desktopVariables({ id: this.id, folder: this.folder, home: this.home, user, own }),
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(this.folder, 'run', 'bus')}`,
      ...variables,
    };
    const folder = join(this.folder, 'server');
    return new Programs({ where: this.where, user, env: this.#variables, home: this.home, folder });
  }

  async #startDisplay(): Promise<void> {
    const { width, height } = this.size;
    const screen = ['-screen', '0', `${width}x${height}x${DEPTH}`, '-dpi', '96', '-noreset', '-nolisten', 'tcp'];
    const auth = ['-auth', join(this.folder, 'run', 'xauthority')];
    const number = this.#display === null ? [] : [this.#display];
    const core = this.#core('Xvfb', [this.#machine.xvfb, ...number, '-displayfd', '3', ...screen, ...auth]);
    this.#display = `:${await readyLine(core, this.where)}`;
    writeOwner(this.folder, this.id, this.#display);
  }

  async #startBus(): Promise<void> {
    const address = `unix:path=${join(this.folder, 'run', 'bus')}`;
    const settings = ['--session', '--nofork', '--nopidfile', `--address=${address}`, '--print-address=3'];
    await readyLine(this.#core('dbus-daemon', [this.#machine.dbus, ...settings]), this.where);
  }

  /** Programs that the bus starts, such as gnome-terminal's server, need the display that came after the bus. */
  async #tellBus(): Promise<void> {
    const { returncode, error } = await this.#programs.run(['dbus-update-activation-environment', '--all']);
    if (returncode === 0) return;
    throw new DartError(`the message bus does not take the display: ${error.trim()}`, { where: this.where });
  }

  async #startAccessibility(): Promise<void> {
    this.#core('at-spi-bus-launcher', [this.#machine.a11y, '--launch-immediately', '--a11y=1']);
    const call = ['--dest=org.a11y.Bus', '/org/a11y/bus', 'org.a11y.Bus.GetAddress'];
    const asked = ['dbus-send', '--session', '--print-reply', `--reply-timeout=${READY_MS}`, ...call];
    const { returncode, error } = await this.#programs.run(asked, { limitMs: READY_MS });
    if (returncode === 0) return;
    throw new DartError(`the accessibility bus does not start: ${error.trim()}`, { where: this.where });
  }

  async #startWindowManager(): Promise<void> {
    await this.#hands.request('dress', {}, READY_MS);
    this.#core('openbox', [this.#machine.windowManager, '--sm-disable']);
    const end = performance.now() + READY_MS;
    while ((await this.#hands.request('managed')) !== true) {
      if (performance.now() > end) throw new DartError('the window manager is not ready', { where: this.where });
      await sleep(LOOK_MS);
    }
  }

  #core(name: string, argv: readonly string[]): Core {
    const round = this.#round;
    return startCore(this.#programs, name, argv, join(this.folder, 'server'), (core) => {
      if (round === this.#round) this.#ended(core.name, argv);
    });
  }

  /**
   * A window manager that ended is started again; what ends with the X server or the bus is lost until a reset. What else
   * ends then, ends because of it, and may be heard of earlier or later: the X server's end is what is told.
   */
  #ended(name: string, argv: readonly string[]): void {
    if (name === 'at-spi-bus-launcher' || (this.#lost && name !== 'Xvfb')) return;
    if (name === 'openbox' && this.#restarts < MAX_RESTARTS) {
      this.#restarts += 1;
      this.#core(name, argv);
      return;
    }
    this.#lost = true;
    this.#broken = new DartError(`${name} has ended, and with it what was open`, {
      where: this.where,
      hint: 'POST /reset, or another desktop',
    });
  }

  #check(): void {
    if (this.#broken) throw this.#broken;
  }

  #helper(module: 'display' | 'tree'): Helper {
    return new Helper(this.where, () =>
      this.#programs.spawn([this.#machine.python, '-m', `dart_x11.${module}`], { stdio: ['pipe', 'pipe', 'pipe'] }),
    );
  }

  /** Waits for the end of this process, however it comes, and then ends what is left. */
  #watch(): ChildProcess {
    const script = 'while read -r _; do :; done; cd /; "$1" -m dart_x11.sweep "DART_DESKTOP=$2"; rm -rf -- "$3"';
    const watcher = spawn('/bin/sh', ['-c', script, 'sh', this.#machine.python, this.id, this.folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env.PATH, PYTHONPATH: imageFolder('python'), PYTHONDONTWRITEBYTECODE: '1' },
    });
    watcher.unref();
    (watcher.stdin as unknown as { unref?: () => void }).unref?.();
    return watcher;
  }
}
