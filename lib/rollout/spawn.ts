import { createServer } from 'node:net';
import type { ResultPromise } from 'execa';
import { DartError, messageOf } from '../errors.ts';
import { callServer } from '../policy/openai/call.ts';
import { tied } from '../stream/spawn_tied.ts';
import { delay } from '../stream/timer.ts';
import { checkedCommand, filled, type SpawnPlace } from './spawn_command.ts';

export interface OwnedServerOptions {
  /** `vllm serve {model} --port {port}` */
  command: string;
  gpu: string;
  index: number;
  model?: string;
  env: Readonly<Record<string, string | undefined>>;
  /** How long it may take until `/health` answers. */
  startTimeoutMs: number;
  /** Takes what the process says, line by line. */
  log: (line: string) => void;
  signal?: AbortSignal;
}

const POLL_MS = 200;
const STOP_MS = 10_000;
const LAST_LINES = 5;

/** All groups of processes that must not outlive this one, however it ends (for SIGKILL see `tied`). */
const groups = new Set<number>();
let watching = false;

/**
 * An inference server that is ours: started as a child in a process group of its own, so that it is stopped with all its
 * descendants, and so that Ctrl-C at the terminal does not reach it before the rollouts have ended.
 */
export class OwnedServer {
  readonly url: string;
  readonly name: string;
  readonly #options: OwnedServerOptions;
  readonly #words: string[];
  readonly #place: SpawnPlace;
  readonly #said: string[] = [];
  #child: ResultPromise | null = null;
  #running: Promise<unknown> | null = null;
  #told: (reason: unknown) => void = () => {};
  #stopping = false;

  private constructor(options: OwnedServerOptions, port: number) {
    const { gpu, index, model } = options;
    this.#options = options;
    this.#words = checkedCommand(options.command);
    this.#place = { port, gpu, index, model };
    this.url = `http://127.0.0.1:${port}`;
    this.name = gpu === '' ? `server ${index}` : `gpu ${gpu}`;
  }

  /** Starts the server on a free port and waits until it answers. Throws a DartError where it does not. */
  static async start(options: OwnedServerOptions): Promise<OwnedServer> {
    const server = new OwnedServer(options, await freePort());
    try {
      await server.#startAndWait();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Told when the process ends by itself. */
  onExit(told: (reason: unknown) => void): void {
    this.#told = told;
  }

  get running(): boolean {
    return this.#running !== null;
  }

  /** Starts the process again where it has ended. It may take minutes until it answers. */
  async ensureRunning(): Promise<void> {
    if (this.running || this.#stopping) return;
    this.#options.log(`[${this.name}] starting again`);
    await this.#spawn();
  }

  /** Stops it, starts it with another model, and waits until it answers. Where it does not, the next start is with the old. */
  async restartWith(model: string): Promise<void> {
    const before = this.#place.model;
    if (this.running && before === model) return;
    await this.#end();
    this.#place.model = model;
    try {
      await this.#startAndWait();
    } catch (error) {
      this.#place.model = before;
      await this.#end();
      throw error;
    }
  }

  /** Stops it with its descendants: SIGTERM, then SIGKILL. It is not started again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#end();
  }

  async #startAndWait(): Promise<void> {
    await this.#spawn();
    const { startTimeoutMs, signal } = this.#options;
    const deadline = performance.now() + startTimeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      if (!this.running) throw this.#problem('ended before it answered');
      const answered = await callServer(`${this.url}/health`, { method: 'GET', timeoutMs: 5000, signal }).then(
        () => true,
        () => false,
      );
      if (answered) return;
      if (performance.now() > deadline) throw this.#problem(`did not answer within ${startTimeoutMs / 1000} s`);
      await delay(POLL_MS, signal);
    }
  }

  async #spawn(): Promise<void> {
    const { execa } = await import('execa');
    const { gpu, env, log } = this.#options;
    const [file, ...args] = (await tied(filled(this.#words, this.#place))) as [string, ...string[]];
    const child = execa(file, args, {
      ...{ detached: true, cleanup: false, reject: false, buffer: false, stdin: 'ignore', extendEnv: false },
      env: { ...env, ...(gpu === '' ? {} : { CUDA_VISIBLE_DEVICES: gpu }) } as Record<string, string>,
      all: true,
    });
    this.#child = child;
    if (child.pid !== undefined) remember(child.pid);
    const reading = (async () => {
      for await (const line of child.iterable({ from: 'all' })) {
        this.#said.push(line);
        if (this.#said.length > LAST_LINES) this.#said.shift();
        log(`[${this.name}] ${line}`);
      }
    })().catch(() => {});
    this.#running = Promise.all([child, reading]).then(([end]) => this.#ended(child, end));
  }

  #ended(child: ResultPromise, end: { exitCode?: number; signal?: string; shortMessage?: string }): void {
    if (child.pid !== undefined) endGroup(child.pid, 'SIGKILL');
    if (this.#child !== child) return;
    this.#child = null;
    this.#running = null;
    if (this.#stopping) return;
    this.#told(
      this.#problem(
        end.exitCode === undefined
          ? (end.shortMessage ?? `ended by ${end.signal}`)
          : `ended with exit code ${end.exitCode}`,
      ),
    );
  }

  async #end(): Promise<void> {
    const [child, running] = [this.#child, this.#running];
    if (!child || !running) return;
    // Its end is ours to know from here on.
    this.#child = null;
    this.#running = null;
    if (child.pid === undefined) return;
    endGroup(child.pid, 'SIGTERM', false);
    const timer = setTimeout(() => endGroup(child.pid!, 'SIGKILL'), STOP_MS);
    await running;
    clearTimeout(timer);
  }

  #problem(what: string): DartError {
    const said = this.#said.length === 0 ? '' : `; it last said: ${this.#said.join(' | ')}`;
    return new DartError(`the server ${what}${said}`, {
      where: `--spawn, ${this.name}`,
      hint: `the command by hand: ${this.#options.command}`,
    });
  }
}

/** The GPUs to start servers on: as told, or those that CUDA shows, or one server without a GPU. */
export function gpusOf(list: string | undefined, env: Readonly<Record<string, string | undefined>>): string[] {
  const text = list ?? env.CUDA_VISIBLE_DEVICES ?? '';
  const gpus = text.split(',').map((gpu) => gpu.trim());
  return gpus.filter((gpu) => gpu !== '').length === 0 ? [''] : gpus;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) =>
      reject(new DartError(`no free port: ${messageOf(error)}`, { where: '--spawn', cause: error })),
    );
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

function remember(pid: number): void {
  groups.add(pid);
  if (watching) return;
  watching = true;
  process.once('exit', () => {
    for (const group of groups) endGroup(group, 'SIGKILL');
  });
}

function endGroup(pid: number, signal: NodeJS.Signals, forget = true): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already, and all of its group.
  }
  if (forget) groups.delete(pid);
}
