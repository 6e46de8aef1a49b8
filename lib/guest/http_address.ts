import { DartError } from '../errors.ts';

/** Where a guest's server is, apart from what must not be shown. */
export interface GuestAddress {
  /** Without userinfo and without a slash at its end: for messages too. */
  url: string;
  /** `Authorization` of each request; absent where the URL holds no token. */
  authorization?: string;
}

/**
 * Reads a guest's URL. `http://:TOKEN@host:5000` has the token that our server wants; with a name before the colon it is
 * Basic authentication, for a proxy in front of the desktop.
 * @throws DartError for what is no http or https URL; its message shows nothing of the userinfo.
 */
export function guestAddress(text: string): GuestAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    const shown = text.replace(/\/\/[^/@]*@/, '//');
    throw new DartError(`"${shown}" is no URL of a desktop`, {
      hint: 'http://127.0.0.1:5000, http://:TOKEN@HOST:5000',
    });
  }
  const [name, token] = [url.username, url.password].map(decode) as [string, string];
  const base = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
  if (name === '' && token === '') return { url: base };
  const both = name !== '' && token !== '';
  const pair = Buffer.from(`${name}:${token}`, 'utf8').toString('base64');
  return { url: base, authorization: both ? `Basic ${pair}` : `Bearer ${name || token}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
