import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DartError } from '../../../errors.ts';
import { programFiles } from './closure.ts';

const RECIPE = 'fixtures/desktop-image';
const ENTRY = 'dist/commands/env/guest_server.js';
const PARTS = ['Dockerfile', 'install', 'bin', 'packages', 'policies', 'python'];

/** The folder that an image is built from, as links to where its parts lie; `remove` takes them away. */
export interface BuildContext {
  folder: string;
  remove(): void;
}

/** @throws DartError where the installation lacks a part. */
export function stageContext(root = installation(), node = process.execPath): BuildContext {
  const program = programFiles(root, ENTRY);
  const folder = mkdtempSync(join(tmpdir(), 'dart-image-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const link = (from: string, to: string) => {
    const path = join(folder, to);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(from, path);
  };
  try {
    for (const part of PARTS) link(present(join(root, RECIPE, part)), part);
    link(node, 'node');
    for (const [name, path] of program.modules) link(path, join('guest', name));
    for (const [name, path] of program.packages) link(path, join('guest/node_modules', name));
    writeFileSync(join(folder, 'guest/package.json'), '{"type":"module"}\n');
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Arguments with which tar(1) packs it: the same bytes for the same parts, and nothing that the image has no use for. */
export function tarArguments(folder: string): string[] {
  const useless = ['__pycache__', '*.d.ts', '*.d.mts', '*.d.cts', '*.map', '*.test.*'].map(
    (name) => `--exclude=${name}`,
  );
  const plain = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  return ['--create', '--dereference', ...plain, ...useless, `--directory=${folder}`, '.'];
}

function present(path: string): string {
  if (existsSync(path)) return path;
  throw new DartError('this part of the image is missing', { where: path, hint: 'install the toolkit again' });
}

/** The folder that this module is installed in. */
function installation(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, RECIPE))) return folder;
  }
  throw new DartError(`there is no ${RECIPE}`, { where: 'the installation', hint: 'install the toolkit again' });
}
