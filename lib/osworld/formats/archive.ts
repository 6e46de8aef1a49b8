import { gunzipSync } from 'fflate';
import { extract } from 'tar-stream';
import { MAX_UNPACKED, ZipArchive } from './zip.ts';

/** Files of a zip or tar archive (gzipped or not) by their paths. Throws an Error for anything else. */
export async function unpack(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return unpackZip(bytes);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return unpackTar(bytes);
  // The last four bytes are the size.
  const size = new DataView(bytes.buffer, bytes.byteOffset + bytes.byteLength - 4, 4).getUint32(0, true);
  if (size > MAX_UNPACKED) throw new Error(`the archive unpacks to ${size} bytes, more than ${MAX_UNPACKED}`);
  return unpackTar(gunzipSync(bytes, { out: new Uint8Array(size) }));
}

function unpackZip(bytes: Uint8Array): Map<string, Uint8Array> {
  const zip = new ZipArchive(bytes);
  const files = zip.names.filter((name) => !name.endsWith('/'));
  return new Map(files.map((name) => [plainPath(name), zip.part(name)]));
}

async function unpackTar(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const tar = extract();
  tar.end(Buffer.from(bytes));
  for await (const entry of tar) {
    const parts: Buffer[] = [];
    for await (const part of entry) parts.push(part as Buffer);
    if (entry.header.type === 'file') files.set(plainPath(entry.header.name), Buffer.concat(parts));
  }
  if (files.size === 0) throw new Error('no archive, or an empty one');
  return files;
}

function plainPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/** Names right inside a folder of the archive (`''`: the top), sorted by code points as Python does. */
export function namesIn(files: Map<string, Uint8Array>, folder: string): string[] {
  const start = folder === '' ? '' : `${plainPath(folder)}/`;
  const inside = [...files.keys()].filter((path) => path.startsWith(start)).map((path) => path.slice(start.length));
  return [...new Set(inside.map((path) => path.split('/')[0]!))].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
}
