import { createHash } from 'node:crypto';

/** sha256 of bytes, or of a text's UTF-8, in hexadecimal digits. */
export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
