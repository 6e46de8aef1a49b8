import { spawnSync } from 'node:child_process';
import { orSkip } from './shared.testing.ts';

const PACKAGES = ['torch', 'torchvision', 'transformers', 'peft', 'safetensors', 'PIL'];

function findTorch(): string | null {
  const program = process.env.DART_PYTHON || 'python3';
  // Looked for and not imported, which would take seconds.
  const look = 'import sys, importlib.util as u; print(*[name for name in sys.argv[1:] if not u.find_spec(name)])';
  const { status, stdout } = spawnSync(program, ['-c', look, ...PACKAGES], { encoding: 'utf8' });
  const missing = status === 0 ? stdout.trim().split(' ').filter(Boolean) : ['working Python'];
  return orSkip('torch', missing.length === 0 ? program : null, `${program} has no ${missing.join(', ')}`);
}

/**
 * A Python with the packages of the torch engine (`DART_PYTHON`, else `python3`), or null: use with
 * `describe.skipIf(!torchPython)`.
 */
export const torchPython: string | null = findTorch();
