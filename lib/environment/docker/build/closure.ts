import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DartError } from '../../../errors.ts';

/** What a program consists of: places inside an installation, and where they lie on this machine. */
export interface ProgramFiles {
  /** Modules, by their path from the root: `dist/lib/errors.js`. */
  modules: Map<string, string>;
  /** Folders of packages, by their name: `zod`. */
  packages: Map<string, string>;
}

/**
 * Everything that a compiled module imports, also on demand, so that an image carries that and nothing else.
 * @param root Folder of the installation, with its package.json.
 * @param entry From there: `dist/commands/env/guest_server.js`.
 * @throws DartError for a module or a package that is not there.
 */
export function programFiles(root: string, entry: string): ProgramFiles {
  const files: ProgramFiles = { modules: new Map(), packages: new Map() };
  addModule(files, root, join(root, entry));
  return files;
}

function addModule(files: ProgramFiles, root: string, path: string): void {
  const name = relative(root, path);
  if (files.modules.has(name)) return;
  if (!existsSync(path)) throw new DartError('this module is missing', { where: name, hint: 'make build' });
  files.modules.set(name, path);
  for (const specifier of specifiersIn(readFileSync(path, 'utf8'))) {
    if (specifier.startsWith('.')) addModule(files, root, join(dirname(path), specifier));
    else if (!specifier.startsWith('node:')) addPackage(files, packageOf(specifier), dirname(path));
  }
}

/** As written by the compiler: one statement begins a line, and an import on demand may stand anywhere. */
function specifiersIn(text: string): string[] {
  const statement =
    /^(?:import|export)\b[^'";]*?\bfrom\s+['"]([^'"\n]+)['"]|^import\s+['"]([^'"\n]+)['"]|\bimport\(['"]([^'"\n]+)['"]\)/gm;
  return [...text.matchAll(statement)].map((match) => (match[1] ?? match[2] ?? match[3])!);
}

/** A package with those that it depends on. The nearest one is taken, as Node does. */
function addPackage(files: ProgramFiles, name: string, from: string): void {
  if (files.packages.has(name)) return;
  const folder = findPackage(name, from);
  files.packages.set(name, folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const dependency of Object.keys(dependencies)) {
    // Its own copy travels inside its folder.
    if (!existsSync(join(folder, 'node_modules', dependency))) addPackage(files, dependency, folder);
  }
}

function findPackage(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return path;
    if (folder === dirname(folder))
      throw new DartError(`the package ${name} is missing`, { where: from, hint: 'npm ci' });
  }
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
