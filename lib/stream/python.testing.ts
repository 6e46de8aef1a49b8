import { spawnSync } from 'node:child_process';
import { orSkip } from './shared.testing.ts';

function findPython(): string | null {
  const program = process.env.DART_PYTHON || 'python3';
  const { status } = spawnSync(program, ['-c', 'import numpy, onnx'], { stdio: 'ignore' });
  return orSkip('python', status === 0 ? program : null, `${program} has no numpy and onnx`);
}

/** A Python with numpy and onnx (`DART_PYTHON`, else `python3`), or null: use with `describe.skipIf(!python)`. */
export const python: string | null = findPython();
