import { describe, expect, it } from 'vitest';
import { extensionOf, resolvePath, Vfs } from './vfs.ts';

describe('Vfs', () => {
  it('makes the folders above a file and lists names in order', () => {
    const vfs = new Vfs();
    expect(vfs.write('/a/b/two.txt', '2')).toBe(true);
    expect(vfs.write('/a/b/one.txt', '1')).toBe(true);
    expect(vfs.list('/a/b')).toEqual(['one.txt', 'two.txt']);
    expect(vfs.list('/')).toEqual(['a']);
    expect(vfs.isFolder('/a/b')).toBe(true);
  });

  it('refuses to put a file where a folder is, or below a file', () => {
    const vfs = new Vfs();
    vfs.write('/a/f', 'x');
    expect(vfs.write('/a', 'x')).toBe(false);
    expect(vfs.write('/a/f/g', 'x')).toBe(false);
    expect(vfs.readText('/a/f')).toBe('x');
  });

  it('copies and moves folders with all in them, but not into themselves', () => {
    const vfs = new Vfs();
    vfs.write('/a/b/f', 'x');
    expect(vfs.copy('/a', '/a/b/c')).toBe(false);
    expect(vfs.copy('/a', '/d')).toBe(true);
    expect(vfs.move('/a', '/e')).toBe(true);
    expect([vfs.readText('/d/b/f'), vfs.readText('/e/b/f'), vfs.exists('/a/b/f')]).toEqual(['x', 'x', false]);
  });

  it('keeps what it is given apart from the giver', () => {
    const vfs = new Vfs();
    const bytes = Uint8Array.from([1, 2]);
    vfs.write('/f', bytes);
    bytes[0] = 9;
    const read = vfs.readBytes('/f')!;
    read[1] = 9;
    expect([...vfs.readBytes('/f')!]).toEqual([1, 2]);
    const copy = new Vfs(vfs);
    copy.write('/f', 'other');
    expect(vfs.size('/f')).toBe(2);
  });
});

describe('paths', () => {
  it('resolves dots, tildes and doubled slashes', () => {
    expect(resolvePath('../x//y/./z')).toBe('/home/x/y/z');
    expect(resolvePath('~/a')).toBe('/home/user/a');
    expect(resolvePath('/../..')).toBe('/');
  });

  it('takes endings in lower case and none from hidden files', () => {
    expect([extensionOf('/a/B.PNG'), extensionOf('/a/.config'), extensionOf('/a.b/c')]).toEqual(['.png', '', '']);
  });
});
