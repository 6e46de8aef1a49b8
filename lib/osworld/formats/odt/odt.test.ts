import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { BrokenDocument } from '../broken.ts';
import { OdtDocument } from './document.ts';

const NAMES = ['office', 'text', 'style', 'manifest'].map(
  (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
);
const ALL = `${NAMES.join(' ')} xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"`;

function odt(content: string, styles = '', listed = ['content.xml', 'styles.xml']): Uint8Array {
  const entries = listed.map((name) => `<manifest:file-entry manifest:full-path="${name}"/>`).join('');
  const files = {
    'META-INF/manifest.xml': `<manifest:manifest ${ALL}>${entries}</manifest:manifest>`,
    'content.xml': `<office:document-content ${ALL}>${content}</office:document-content>`,
    'styles.xml': `<office:document-styles ${ALL}>${styles}</office:document-styles>`,
  };
  const encoder = new TextEncoder();
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, encoder.encode(text)])));
}

const automatic = (name: string, color: string) =>
  `<office:automatic-styles><style:style style:name="${name}"><style:text-properties fo:background-color="${color}"/></style:style></office:automatic-styles>`;

describe('OdtDocument', () => {
  it('reads as text what stands in a paragraph or in a span of it', () => {
    const text =
      '<text:p>a<text:s/>b<text:span>c<text:span>deep</text:span>d</text:span><text:a>link</text:a>e</text:p>';
    expect(new OdtDocument(odt(`<office:body>${text}</office:body>`)).texts).toEqual(['abcde']);
  });

  it('reads paragraphs inside paragraphs, and those of headers last', () => {
    const body = '<text:p>a<text:note><text:p>b</text:p></text:note></text:p><text:p/>';
    const document = new OdtDocument(odt(`<office:body>${body}</office:body>`, '<text:p>header</text:p>'));
    expect(document.texts).toEqual(['a', 'b', '', 'header']);
  });

  it('gives the backgrounds of spans by the styles of their own stream', () => {
    const span = '<text:p><text:span text:style-name="T1">a</text:span></text:p>';
    const yellow = new OdtDocument(odt(automatic('T1', '#ffff00') + span, automatic('T1', '#0000ff')));
    expect(yellow.spanBackgrounds).toEqual(['#ffff00']);
    const unused = new OdtDocument(odt(automatic('T2', '#ffff00') + span));
    expect(unused.spanBackgrounds).toEqual([]);
  });

  it('refuses what is no such file', () => {
    expect(() => new OdtDocument(new Uint8Array([1, 2]))).toThrow(BrokenDocument);
    expect(() => new OdtDocument(odt('', '', ['content.xml', 'Pictures/a.png']))).toThrow('no Pictures/a.png');
    expect(() => new OdtDocument(odt('<text:p>'))).toThrow('content.xml: ');
  });
});
