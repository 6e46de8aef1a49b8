/**
 * Comparison of addresses as OSWorld's `compare_urls`: `http` where no scheme is given, the public suffix and a lone
 * `www` dropped (`google.com` and `www.google.co.uk` are alike), a path of `/` empty; the rest must be equal.
 */
export function sameUrl(first: unknown, second: unknown): boolean {
  if (typeof first !== 'string' || typeof second !== 'string') return first === second;
  return normalise(first) === normalise(second);
}

function normalise(url: string): string {
  const full = /^[a-zA-Z][a-zA-Z\d+\-.]*:/.test(url) ? url : `http://${url}`;
  const [, scheme = '', host = '', path = '', rest = ''] = /^([^:]*):(?:\/\/([^/?#]*))?([^?#]*)(.*)$/s.exec(full) ?? [];
  return `${scheme.toLowerCase()}://${withoutSuffix(host.toLowerCase())}${path === '/' ? '' : path}${rest}`;
}

/** Second-level names that are part of a public suffix under a two-letter country: `co.uk`, `com.hk`. */
const SECOND_LEVEL = new Set(['ac', 'co', 'com', 'edu', 'gob', 'gov', 'go', 'mil', 'ne', 'net', 'or', 'org']);

function withoutSuffix(host: string): string {
  const name = host.replace(/^[^@]*@/, '').replace(/:\d+$/, '');
  const labels = name.split('.');
  if (labels.length < 2 || /^[\d.]+$/.test(name)) return name;
  const isCountry = labels.at(-1)!.length === 2 && SECOND_LEVEL.has(labels.at(-2)!) && labels.length > 2;
  const kept = labels.slice(0, isCountry ? -2 : -1);
  return (kept.length > 1 && kept[0] === 'www' && kept.length === 2 ? kept.slice(1) : kept).join('.');
}
