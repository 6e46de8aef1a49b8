import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../stream/loopback.ts';
import { Refusal } from './refusal.ts';

/**
 * Lets in who bears the token. Without a token the server listens on loopback, and a browser is the one stranger who
 * gets that far: a page of a site that points its name to 127.0.0.1 is told by the host that it asks for.
 * @throws Refusal with 401 or 403.
 */
export function checkAccess({ headers }: IncomingMessage, token: string | null): void {
  if (token !== null) {
    const borne = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    if (borne !== undefined && same(borne, token)) return;
    throw new Refusal(401, 'authentication_error', 'the token is missing or wrong: Authorization: Bearer …');
  }
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  if (!isLoopback(host)) throw new Refusal(403, 'permission_error', `"${host}" is not this machine's loopback`);
}

/** Takes as long for a near guess as for a far one. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
