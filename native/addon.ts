import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DartError } from '../lib/errors.ts';

/** Interface number of native/kernels/dart_kernels.h that this code was written for. */
const ABI = 2;

/** Arguments of a kernel, by name; with `async` it answers with a promise, fulfilled when the arrays are filled. */
type Operation = (args: Record<string, unknown>) => unknown;

/** What native/src/module.cc exports. The functions of this folder are its only callers. */
export interface Addon {
  abi: number;
  policyLoss: Operation;
  logpEntropy: Operation;
  stepEntropy: Operation;
  selectSteps: Operation;
  gradientNorm: Operation;
  adamw: Operation;
  dpo: Operation;
  kto: Operation;
  flock(args: { fd: number; nonblocking: boolean }): boolean;
  pollHangup(args: { fd: number }): boolean;
  cudaStatus(args: { cudaLibrary: string; deviceIndex: number }): { available: boolean; text: string };
  cpuStatus(): string;
  setThreads(args: { threads: number }): void;
  threads(): number;
  setInstructions(args: { name: string }): void;
  instructions(): string;
}

const BUILT = 'native/build/Release';

/** The folder that holds package.json and native/binding.gyp, from native/ as well as from dist/native/. */
export function packageRoot(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'native', 'binding.gyp'))) return folder;
    if (folder === dirname(folder)) throw notBuilt(from, 'native/binding.gyp is not in a folder above this one');
  }
}

function notBuilt(path: string, reason: string): DartError {
  return new DartError(`The native addon could not be loaded (${reason})`, {
    where: path,
    hint:
      'npm run install (needs a C++20 compiler, make and Python 3); where the toolkit is a dependency, after ' +
      '--ignore-scripts or a change of Node version: npm rebuild dart-toolkit',
  });
}

/** Loads the addon from a build folder; a DartError with what to do when it is missing, broken or of another version. */
export function load(folder: string): Addon {
  const path = join(folder, 'dart_native.node');
  if (!existsSync(path)) throw notBuilt(path, 'no such file');
  let addon: Addon;
  try {
    addon = createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    throw notBuilt(path, error instanceof Error ? error.message : String(error));
  }
  if (addon.abi !== ABI) throw notBuilt(path, `its interface is ${addon.abi}, this code needs ${ABI}`);
  return addon;
}

/** Where the built libraries lie. */
export interface LibraryPaths {
  /** The CPU kernels for callers without Node: the C interface of native/kernels/dart_kernels.h. */
  cpu: string;
  /** The CUDA kernels; not there where the addon was built without nvcc. DART_CUDA_LIBRARY, if not empty, names others. */
  cuda: string;
}

const builtFolder = () => join(packageRoot(dirname(fileURLToPath(import.meta.url))), BUILT);

/** Paths of the libraries that another program may open; nothing is loaded, and they need not be there. */
export function libraryPaths(): LibraryPaths {
  const folder = builtFolder();
  const suffix = process.platform === 'darwin' ? 'dylib' : 'so';
  return {
    cpu: join(folder, `libdart_cpu.${suffix}`),
    cuda: process.env.DART_CUDA_LIBRARY || join(folder, 'libdart_cuda.so'),
  };
}

let loaded: { addon: Addon; cudaLibrary: string } | undefined;

/** The addon, loaded on the first call, and where its CUDA library would be. */
export function native(): { addon: Addon; cudaLibrary: string } {
  loaded ??= { addon: load(builtFolder()), cudaLibrary: libraryPaths().cuda };
  return loaded;
}
