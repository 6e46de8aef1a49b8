import type { Writable } from 'node:stream';
import { outputError } from '../../lib/stream/writer.ts';

/** Writes what is no record, as it is; resolves when it has left. */
export function writeText(stream: Writable, text: string | Uint8Array, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(outputError(error, name)) : resolve()));
  });
}
