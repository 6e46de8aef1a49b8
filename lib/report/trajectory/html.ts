/** Text that is HTML already: only `html` makes it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What may stand in the holes of a template: text is escaped, HTML is not, and what is not there leaves nothing. */
export type Hole = string | number | Html | readonly Html[] | null | undefined | false;

/**
 * A template whose holes are escaped, for text and for attributes in double quotes: a reply may hold HTML, a task a script.
 */
export function html(parts: TemplateStringsArray, ...holes: Hole[]): Html {
  return new Html(parts.reduce((text, part, index) => text + filled(holes[index - 1]) + part));
}

function filled(hole: Hole): string {
  if (hole === null || hole === undefined || hole === false) return '';
  if (hole instanceof Html) return hole.text;
  if (typeof hole === 'object') return hole.map((item) => item.text).join('');
  return escapeHtml(String(hole));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML; what HTML forbids (control characters, lone surrogates) becomes a visible stand-in. */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

/** Control characters, and those that reverse the direction of writing; line breaks and tabs stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * The text with its invisible commands made visible: a reply must neither drive the terminal it is shown on (escape
 * sequences) nor look like another reply (bidirectional overrides).
 */
export function visible(text: string): string {
  const whole = text.replace(/\r\n/g, '\n').replace(/\p{Surrogate}/gu, '\ufffd');
  return whole.replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    // The Unicode block of pictures of control characters.
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
