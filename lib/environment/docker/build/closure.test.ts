import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { thrown } from '../../../errors.testing.ts';
import { programFiles } from './closure.ts';

const root = mkdtempSync(join(tmpdir(), 'dart-closure-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const manifest = (dependencies: Record<string, string> = {}) => JSON.stringify({ dependencies });

describe('what an image carries of the program', () => {
  write('dist/a.js', "import { b } from './lib/b.js';\nimport 'node:fs';\nexport * from '@scope/one/deep';\n");
  write('dist/lib/b.js', "export const b = () => import('../c.js');\nimport two from 'two';\n");
  write('dist/c.js', "import './a.js';\n");
  write('dist/unused.js', "import 'unused';\n");
  write('node_modules/@scope/one/package.json', manifest({ three: '1', two: '2' }));
  // Its own copy of two, and the common one, are both needed.
  write('node_modules/@scope/one/node_modules/two/package.json', manifest());
  write('node_modules/two/package.json', manifest());
  write('node_modules/three/package.json', manifest({ '@scope/one': '1' }));
  write('node_modules/unused/package.json', manifest());

  it('is what it imports, also on demand and of packages, and nothing else', () => {
    const { modules, packages } = programFiles(root, 'dist/a.js');
    expect([...modules.keys()].sort()).toEqual(['dist/a.js', 'dist/c.js', 'dist/lib/b.js']);
    expect(Object.fromEntries(packages)).toEqual({
      '@scope/one': join(root, 'node_modules/@scope/one'),
      three: join(root, 'node_modules/three'),
      two: join(root, 'node_modules/two'),
    });
  });

  it('is told to be built where it is not', () => {
    expect(thrown(() => programFiles(root, 'dist/guest.js')).describe()).toBe(
      'dist/guest.js: this module is missing. Try: make build',
    );
    write('dist/broken.js', "import 'nowhere-to-be-found';\n");
    expect(thrown(() => programFiles(root, 'dist/broken.js')).message).toBe(
      'the package nowhere-to-be-found is missing',
    );
  });
});
