import { parse } from 'tldts';

/**
 * Comparison of addresses as OSWorld's `compare_urls`: `http` where no scheme is given, the public suffix and a lone
 * `www` dropped (`google.com` and `www.google.co.uk` are alike), the port too, a path of `/` empty; the rest must be
 * equal.
 */
export function sameUrl(first: unknown, second: unknown): boolean {
  if (typeof first !== 'string' || typeof second !== 'string') return first === second;
  return normalUrl(first) === normalUrl(second);
}

/** The address in the form in which `sameUrl` compares it. */
export function normalUrl(url: string): string {
  const full = /^[a-zA-Z][a-zA-Z\d+\-.]*:\/\//.test(url) ? url : `http://${url}`;
  const [, scheme = '', host = '', path = '', query = '', hash = ''] =
    /^([^:]*):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(full) ?? [];
  const rest = [query, hash].map((part) => (part.length === 1 ? '' : part)).join('');
  return `${scheme.toLowerCase()}://${withoutSuffix(host.toLowerCase())}${path === '/' ? '' : path}${rest}`;
}

/** As Python's tldextract: only suffixes of the public list, its private part left out, and none of an IP address. */
function withoutSuffix(netloc: string): string {
  const host = netloc.replace(/^.*@/, '').replace(/:.*$/, '').replace(/\.$/, '');
  if (/^\d+(\.\d+){3}$/.test(host)) return host;
  const suffix = suffixOf(host.replace(/^\.+/, ''));
  const kept = host.split('.').slice(0, suffix === null ? undefined : -suffix.split('.').length);
  const name = kept.pop() ?? '';
  const before = kept.join('.');
  return before === '' || before === 'www' ? name : `${before}.${name}`;
}

function suffixOf(host: string): string | null {
  const { isIcann, publicSuffix } = parse(host, { allowPrivateDomains: false, validateHostname: false });
  return isIcann ? publicSuffix : null;
}
