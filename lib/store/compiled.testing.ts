import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';

const ROOT = resolve(import.meta.dirname, '..', '..');

/**
 * Compiles TypeScript files of this project, and what they import, into a temporary folder, for tests that start real
 * processes: Node 20 cannot run TypeScript.
 * @param entries paths relative to the project's root.
 * @returns the folder; the files keep their places in it, ending in `.js`. The caller removes it.
 */
export async function compile(...entries: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'dart-compiled-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const settings = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      outDir: folder,
      rootDir: ROOT,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: [],
    files: entries.map((entry) => join(ROOT, entry)),
  };
  const project = join(folder, 'tsconfig.json');
  writeFileSync(project, JSON.stringify(settings));
  await execa('node', [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project]);
  return folder;
}
