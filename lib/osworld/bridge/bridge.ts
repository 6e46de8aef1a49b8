import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DartError } from '../../errors.ts';
import { Unsupported } from '../unsupported.ts';
import { readFiles, writeFiles } from './files.ts';
import type { Bridge } from './kinds.ts';
import { LineProcess } from './process.ts';

/** How long one call may take, ms: models are loaded in the first. */
const LIMIT_MS = 600_000;

/**
 * Starts the Python of an installed OSWorld: that of its `.venv` or `venv`, or `python`, or `python3`. Throws a
 * DartError where it does not start or the folder has no OSWorld.
 */
export async function openBridge(root: string, python = pythonOf(root)): Promise<Bridge> {
  const lines = new LineProcess(python, [script(), resolve(root)], root);
  const first = await lines.ready();
  if (first.ready) return new PythonBridge(lines, root);
  await lines.close();
  throw new DartError(`the Python bridge: ${first.error}`, { where: root, hint: 'the folder of an installed OSWorld' });
}

function pythonOf(root: string): string {
  const own = ['.venv', 'venv'].map((folder) => join(root, folder, 'bin', 'python'));
  return own.find((path) => existsSync(path)) ?? 'python3';
}

/** Our Python, beside this package's sources or its build. */
function script(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'fixtures', 'bridge', 'bridge.py');
    if (existsSync(path)) return path;
  }
  throw new DartError('fixtures/bridge/bridge.py is missing', { hint: 'installing the package again' });
}

class PythonBridge implements Bridge {
  private readonly lines: LineProcess;
  private readonly root: string;

  constructor(lines: LineProcess, root: string) {
    this.lines = lines;
    this.root = root;
  }

  async score(name: string, result: unknown, expected: unknown, options: Record<string, unknown>): Promise<number> {
    return this.inFolder(async (folder) => {
      const placed = await writeFiles({ result, expected: expected ?? null, options }, folder);
      return Number(await this.ask({ call: 'score', name, ...(placed as object) }));
    });
  }

  async fetch(type: string, config: Record<string, unknown>): Promise<unknown> {
    return this.inFolder(async (folder) =>
      readFiles(await this.ask({ call: 'fetch', name: type, config, folder }), folder),
    );
  }

  async step(type: string, parameters: Record<string, unknown>): Promise<void> {
    await this.inFolder((folder) => this.ask({ call: 'step', name: type, parameters, folder }));
  }

  close(): Promise<void> {
    return this.lines.close();
  }

  private async inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'dart-bridge-')));
    try {
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  private async ask(request: { call: string; name: string; [field: string]: unknown }): Promise<unknown> {
    const { value, error, kind } = await this.lines.ask(request, LIMIT_MS);
    if (error === undefined) return value;
    const message = `OSWorld's ${request.name} failed: ${error}`;
    // An installation without that library cannot do this one thing.
    if (kind === 'import') throw new Unsupported(message, { where: this.root, hint: 'installing it beside OSWorld' });
    throw new DartError(message, { where: this.root });
  }
}
