import { visible } from '../../stream/visible.ts';

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
