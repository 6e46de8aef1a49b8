import { readFileSync } from 'node:fs';
import { fileError } from '../../stream/errno.ts';

/** The text of a certificate file. */
export function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw fileError(error, 'read the certificates', path);
  }
}
