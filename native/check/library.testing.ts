import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const script = join(import.meta.dirname, '..', 'kernels', 'cuda', 'build_emulated.sh');

/**
 * Compiles the CUDA kernels as C++ for this CPU (native/kernels/cuda/emulate.h) into `output`, where that is not newer than
 * the sources. Test files that run at once wait for one another, where `flock` is installed.
 */
export function buildEmulatedCuda(output: string): void {
  mkdirSync(dirname(output), { recursive: true });
  const command = ['sh', script, output];
  const locked = spawnSync('flock', [`${output}.lock`, ...command], { encoding: 'utf8' });
  const { status, stderr } = locked.error ? spawnSync('sh', command.slice(1), { encoding: 'utf8' }) : locked;
  if (status !== 0) throw new Error(`the CUDA kernels do not compile for the CPU:\n${stderr}`);
}

/** The same with the blocks of a GPU, 384 threads that keep six vectors each, so that what tests run is what ships. */
export function buildWithBlocksOfGpu(output: string): void {
  const sources = join(import.meta.dirname, '..', 'kernels', 'cuda');
  const flags = '-std=c++20 -O1 -Wno-unknown-pragmas -U_FORTIFY_SOURCE -shared -fPIC -x c++';
  const command = `"\${CXX:-g++}" ${flags} -o "$1" ./*.cu`;
  const { status, stderr } = spawnSync('sh', ['-c', command, 'sh', output], { encoding: 'utf8', cwd: sources });
  if (status !== 0) throw new Error(`the CUDA kernels do not compile with the blocks of a GPU:\n${stderr}`);
}
