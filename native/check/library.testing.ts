import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const cuda = join(import.meta.dirname, '..', 'kernels', 'cuda');

/** Compiles the CUDA kernels as C++ for this CPU (native/kernels/cuda/emulate.h) into `output`. */
export function buildEmulatedCuda(output: string): void {
  execFileSync('sh', [join(cuda, 'build_emulated.sh'), output], { stdio: ['ignore', 'ignore', 'pipe'] });
}
