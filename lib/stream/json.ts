import { DartError } from '../errors.ts';

/**
 * The value of a file that is JSON as a whole; a byte-order mark is taken.
 * @param hint What the file should have been.
 * @throws DartError `path:line: not JSON: reason`.
 */
export function parseJsonFile(text: string, path: string, hint: string): unknown {
  const json = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(json);
  } catch (cause) {
    const { message } = cause as Error;
    const line = json.slice(0, positionOf(json.trimEnd(), message)).split('\n').length;
    throw new DartError(`not JSON: ${message}`, { where: `${path}:${line}`, hint, cause });
  }
}

/** What to do about a line that is no JSON, where one can see how it came about. */
export function adviceOnLine(text: string): string | undefined {
  if (/^\s*\{\s*$/.test(text)) return 'jq -c ., which gives each record one line';
  if (/^\s*\[\s*$/.test(text)) return "jq -c '.[]', which gives each item a line";
  return /[:[,]\s*-?(NaN|Infinity)\b/.test(text) ? 'null for a number that is not known' : undefined;
}

/**
 * Where the parser stopped. Its message says so, save for an unexpected token: that one ends the shortest beginning of
 * the text that has one. The rest are texts that end too early.
 */
function positionOf(json: string, message: string): number {
  if (!isUnexpected(message)) {
    const position = / in JSON at position (\d+)/.exec(message)?.[1];
    return Math.min(Number(position ?? json.length), json.length);
  }
  let [good, bad] = [0, json.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (hasUnexpected(json.slice(0, middle))) bad = middle;
    else good = middle;
  }
  return good;
}

function hasUnexpected(json: string): boolean {
  try {
    JSON.parse(json);
    return false;
  } catch (error) {
    return isUnexpected((error as Error).message);
  }
}

function isUnexpected(message: string): boolean {
  return message.startsWith('Unexpected token');
}
