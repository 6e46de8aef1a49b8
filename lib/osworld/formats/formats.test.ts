import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { attributeOf, childOf, childrenOf, descendantsOf, elementsOf, leadingText, parseXml } from './xml.ts';
import { ZipArchive } from './zip.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

describe('ZipArchive', () => {
  const bytes = zipSync({ 'b/two.txt': utf8('two'), 'one.txt': [utf8('one'), { level: 0 }] });

  it('names its entries in their order and unpacks the one that is asked for', () => {
    const zip = new ZipArchive(bytes);
    expect(zip.names).toEqual(['b/two.txt', 'one.txt']);
    expect(new TextDecoder().decode(zip.read('b/two.txt'))).toBe('two');
    expect(zip.read('one.txt')).toBe(zip.part('one.txt'));
    expect(zip.read('none')).toBeUndefined();
    expect(() => zip.part('none')).toThrow('the archive has no none');
  });

  it('refuses what is no archive, and one that would fill the memory', () => {
    expect(() => new ZipArchive(utf8('no archive'))).toThrow();
    // The unpacked size stands in the central directory, 24 bytes after its signature.
    const bomb = zipSync({ a: utf8('a') });
    const directory = Buffer.from(bomb).indexOf('PK\x01\x02', 'latin1');
    new DataView(bomb.buffer).setUint32(directory + 24, 2 ** 30, true);
    expect(() => new ZipArchive(bomb)).toThrow('unpacks to 1073741824 bytes');
  });
});

describe('parseXml', () => {
  const root = parseXml('<r xmlns="u:r" xmlns:n="u:n" n:a="1" a="2">x<!-- --><n:c>y</n:c><c>z<c/></c></r>');

  it('finds by namespace and local name', () => {
    expect(elementsOf(root).map((element) => element.nodeName)).toEqual(['n:c', 'c']);
    expect(childrenOf(root, 'u:r', 'c')).toHaveLength(1);
    expect(childOf(root, 'u:n', 'c')?.textContent).toBe('y');
    expect(childOf(root, '', 'c')).toBeUndefined();
    expect(descendantsOf(root, 'u:r', 'c')).toHaveLength(2);
    expect([attributeOf(root, 'a'), attributeOf(root, 'a', 'u:n'), attributeOf(root, 'b')]).toEqual([
      '2',
      '1',
      undefined,
    ]);
    expect(leadingText(root)).toBe('x');
  });

  it('reads bytes in the encoding that they name', () => {
    expect(parseXml(utf8('\ufeff<a>é</a>')).textContent).toBe('é');
    const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1');
    expect(parseXml(latin).textContent).toBe('é');
    expect(parseXml(Buffer.from('\ufeff<a>é</a>', 'utf16le')).textContent).toBe('é');
  });

  it.each(['', 'text', '<a>', '<a></b>', '<a/><b/>', '<n:a/>', '<a b=c/>'])('refuses %j', (text) => {
    expect(() => parseXml(text)).toThrow();
  });
});
