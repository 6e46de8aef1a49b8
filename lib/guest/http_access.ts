import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { DartError } from '../errors.ts';
import { isLoopback } from '../stream/loopback.ts';
import { BadRequest } from './http_body.ts';

/** @throws DartError where anybody could reach the desktop and nothing keeps them out. */
export function checkAccess(host: string, token: string | undefined, open: boolean): void {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new DartError('the token must be printable characters without blanks', { hint: 'openssl rand -hex 16' });
  }
  if (token !== undefined || open || isLoopback(host)) return;
  throw new DartError(`a desktop on ${host} needs a token: whoever reaches the port can use it`, {
    hint: 'a token, or the host 127.0.0.1',
  });
}

/**
 * Lets a request in, or throws. The token comes as `Authorization: Bearer TOKEN`, or as the password of Basic, which is
 * what most clients make of `http://:TOKEN@host`. Without a token web pages are kept out: a page that somebody looks at
 * on this machine, or in the desktop, could reach a loopback port too.
 */
export function admit(request: IncomingMessage, token: string | undefined): void {
  if (token === undefined) {
    if (request.headers.origin === undefined) return;
    throw new BadRequest(403, 'this server is not for web pages');
  }
  const [scheme = '', credentials = ''] = (request.headers.authorization ?? '').split(' ');
  const given = scheme.toLowerCase() === 'basic' ? passwordOf(credentials) : credentials;
  if (/^(?:basic|bearer)$/i.test(scheme) && same(given, token)) return;
  throw new BadRequest(401, 'this desktop wants its token: Authorization: Bearer TOKEN');
}

function passwordOf(credentials: string): string {
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

/** Takes as long for a wrong token as for a nearly right one. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
