import { randomBytes } from 'node:crypto';

const FAMILY_WILD = 0xffff;
const NAME = 'MIT-MAGIC-COOKIE-1';

/** An Xauthority file with one fresh cookie for whatever display: who cannot read it cannot use the desktop. */
export function xauthority(cookie: Uint8Array = randomBytes(16)): Buffer {
  const family = Buffer.alloc(2);
  family.writeUInt16BE(FAMILY_WILD);
  return Buffer.concat([family, counted(''), counted(''), counted(NAME), counted(cookie)]);
}

function counted(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as Uint8Array);
  const size = Buffer.alloc(2);
  size.writeUInt16BE(bytes.length);
  return Buffer.concat([size, bytes]);
}
