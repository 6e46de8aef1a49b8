const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};
const CODE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3}))/y;
const LAST_CODE_POINT = 0x10ffff;

/**
 * One escape of a Python string, from its backslash at `at`: what it stands for and how many characters it takes.
 * An escape that Python does not know stands for itself, as there.
 */
export function readEscape(text: string, at: number): [value: string, length: number] {
  const next = text[at + 1];
  if (next === undefined) return ['\\', 1];
  const simple = SIMPLE[next];
  if (simple !== undefined) return [simple, 2];
  CODE.lastIndex = at;
  const found = CODE.exec(text);
  const octal = found?.[4];
  const code = octal ? Number.parseInt(octal, 8) : Number.parseInt(found?.[1] ?? found?.[2] ?? found?.[3] ?? '', 16);
  if (!found || code > LAST_CODE_POINT) return [`\\${next}`, 2];
  return [String.fromCodePoint(code), found[0].length];
}
