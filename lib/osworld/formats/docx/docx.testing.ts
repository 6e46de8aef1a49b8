import { zipSync } from 'fflate';
import { W } from './values.ts';

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

export interface WordParts {
  /** Inside `w:body`. */
  body: string;
  /** Inside `w:ftr` of `word/<name>.xml`, whose relationship has the name as its id. */
  footers?: Record<string, string>;
  /** `<Relationship …/>` elements of the document. */
  relationships?: string;
  type?: string;
}

/** A Word document with these parts. */
export function wordFile({ body, footers = {}, relationships = '', type = 'document.main' }: WordParts): Uint8Array {
  const names = Object.keys(footers);
  const link = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${OFFICE}/${kind}" Target="${target}"/>`;
  const rels = (content: string) => `<Relationships xmlns="${PACKAGE}/relationships">${content}</Relationships>`;
  const files: Record<string, string> = {
    '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="xml" ContentType="text/xml"/><Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ContentType="${WORD}.${type}+xml"/></Types>`,
    '_rels/.rels': rels(link('r', 'officeDocument', 'word/document.xml')),
    'word/_rels/document.xml.rels': rels(
      relationships + names.map((name) => link(name, 'footer', `${name}.xml`)).join(''),
    ),
    'word/document.xml': `<w:document xmlns:w="${W}" xmlns:r="${OFFICE}"><w:body>${body}</w:body></w:document>`,
  };
  for (const name of names) files[`word/${name}.xml`] = `<w:ftr xmlns:w="${W}">${footers[name]}</w:ftr>`;
  const encoder = new TextEncoder();
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, encoder.encode(text)])));
}

/** A paragraph with one run. */
export function paragraph(text: string, properties = '', look = ''): string {
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:rPr>${look}</w:rPr><w:t>${text}</w:t></w:r></w:p>`;
}
