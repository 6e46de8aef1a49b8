/** Strings are matched whole, so that a NaN inside one stays. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/**
 * JSON as servers write it: Python's `json.dumps` says NaN and Infinity where a log-probability is none. They are read
 * as null. Throws a SyntaxError for everything else that is no whole JSON.
 */
export function parseServerJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    return JSON.parse(text.replace(STRING_OR_NUMBER, (found) => (found.startsWith('"') ? found : 'null')));
  }
}
