/** What Python's `str` and `re` call white space; JavaScript's `\s` lacks the separators and has U+FEFF. */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const SPACES = new RegExp(`${SPACE}+`, 'g');
const ENDS = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');
const ONE_SPACE = new RegExp(SPACE);

/** `str.isdigit` holds for decimals and these, among them superscripts and circled figures. */
const DIGIT =
  /\p{Nd}|[\u{b2}\u{b3}\u{b9}\u{1369}-\u{1371}\u{19da}\u{2070}\u{2074}-\u{2079}\u{2080}-\u{2089}\u{2460}-\u{2468}\u{2474}-\u{247c}\u{2488}-\u{2490}\u{24ea}\u{24f5}-\u{24fd}\u{24ff}\u{2776}-\u{277e}\u{2780}-\u{2788}\u{278a}-\u{2792}\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]/u;

/** `str.strip()`. */
export function strip(text: string): string {
  return text.replace(ENDS, '');
}

/** Every stretch of white space as one blank, none at the ends. */
export function collapse(text: string): string {
  return strip(text.replace(SPACES, ' '));
}

/** `str.split()`: the words between white space. */
export function words(text: string): string[] {
  return text.split(SPACES).filter((word) => word !== '');
}

/** `re.split(r'\s', text)`, without the empty pieces. */
export function pieces(text: string): string[] {
  return text.split(ONE_SPACE).filter((piece) => piece !== '');
}

/** Texts in Python's order, which is that of code points. */
export function sorted(texts: string[]): string[] {
  return [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** `str.isupper()`: letters that have a case, all of them capitals. */
export function isUpper(text: string): boolean {
  return /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);
}

/** True where a character is a digit. */
export function hasDigit(text: string): boolean {
  return DIGIT.test(text);
}

/** `set(a) == set(b)`. */
export function sameSet(a: Iterable<unknown>, b: Iterable<unknown>): boolean {
  const [first, second] = [new Set(a), new Set(b)];
  return first.size === second.size && [...first].every((item) => second.has(item));
}
