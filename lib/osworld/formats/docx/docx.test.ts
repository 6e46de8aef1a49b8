import { describe, expect, it } from 'vitest';
import { BrokenDocument } from '../broken.ts';
import { WordDocument } from './document.ts';
import { paragraph, wordFile } from './docx.testing.ts';

const open = (body: string) => new WordDocument(wordFile({ body }));
const broken = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(BrokenDocument);
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
};

describe('WordDocument', () => {
  it('reads as text what stands in runs and in runs of hyperlinks', () => {
    const pieces = '<w:t>a</w:t><w:tab/><w:br/><w:br w:type="page"/><w:cr/><w:noBreakHyphen/><w:softHyphen/><w:ptab/>';
    const { texts } = open(
      `<w:p><w:r>${pieces}</w:r><w:hyperlink><w:r><w:t>b</w:t></w:r></w:hyperlink><w:ins><w:r><w:t>c</w:t></w:r></w:ins></w:p>
       <w:tbl><w:tr><w:tc>${paragraph('cell')}</w:tc></w:tr></w:tbl><w:sdt>${paragraph('control')}</w:sdt><w:p/>`,
    );
    expect(texts).toEqual(['a\t\n\n-\tb', '']);
  });

  it('reads the format that paragraphs and runs have themselves', () => {
    const [first, second] = open(
      paragraph(
        'a',
        '<w:jc w:val="both"/><w:spacing w:line="360"/><w:tabs><w:tab w:val="right" w:pos="1440"/></w:tabs>',
      ) + paragraph('b', '<w:spacing w:line="360" w:lineRule="exact"/>'),
    ).paragraphs;
    expect([first!.alignment, first!.lineSpacing, first!.tabStops]).toEqual([
      'both',
      1.5,
      [{ alignment: 'right', position: 914400 }],
    ]);
    // 18 points in EMU.
    expect([second!.alignment, second!.lineSpacing, second!.tabStops]).toEqual([null, 228600, []]);
    const look =
      '<w:i/><w:strike w:val="off"/><w:vertAlign w:val="subscript"/><w:rFonts w:ascii="A"/><w:sz w:val="27"/><w:color w:val="0a00FF"/>';
    const [run] = open(paragraph('c', '', look)).paragraphs[0]!.runs;
    expect([run!.isItalic, run!.isStruck, run!.isSubscript, run!.fontName, run!.fontSize, run!.color]).toEqual([
      true,
      false,
      true,
      'A',
      13.5,
      [10, 0, 255],
    ]);
    const [plain] = open(paragraph('d', '', '<w:color w:val="auto"/>')).paragraphs[0]!.runs;
    expect([plain!.isItalic, plain!.isSubscript, plain!.fontName, plain!.fontSize, plain!.color]).toEqual([
      undefined,
      false,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([
    ['<w:jc w:val="start"/>', 'alignment', 'w:jc is "start", not left'],
    ['<w:jc/>', 'alignment', 'w:jc has no val'],
    ['<w:spacing w:line="x"/>', 'lineSpacing', '"x" is no number'],
    ['<w:spacing w:line="1" w:lineRule="x"/>', 'lineSpacing', 'w:spacing is "x"'],
    ['<w:tabs><w:tab w:val="left"/></w:tabs>', 'tabStops', 'w:tab has no pos'],
  ] as const)('refuses %s as python-docx does', (properties, name, message) => {
    const [found] = open(paragraph('a', properties)).paragraphs;
    expect(broken(() => found![name])).toContain(message);
  });

  it('sees a merged cell in every place that it covers', () => {
    const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(text)}</w:tc>`;
    const grid = '<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>';
    const [table] = open(
      `<w:tbl>${grid}<w:tr>${cell('wide', '<w:gridSpan w:val="2"/>')}</w:tr>
       <w:tr>${cell('tall', '<w:vMerge w:val="restart"/>')}${cell('b')}</w:tr><w:tr>${cell('hidden', '<w:vMerge/>')}${cell('d')}</w:tr></w:tbl>`,
    ).tables;
    const rows = [0, 1, 2].map((row) => [0, 1].map((column) => table!.text(row, column)));
    expect(rows).toEqual([
      ['wide', 'wide'],
      ['tall', 'b'],
      ['tall', 'd'],
    ]);
    expect(table!.paragraphs.map(({ text }) => text)).toEqual(['wide', 'wide', 'tall', 'b', 'tall', 'd']);
    expect(broken(() => table!.text(3, 0))).toContain('no cell at row 3');
    const orphan = `<w:tbl>${grid}<w:tr>${cell('a', '<w:vMerge/>')}</w:tr></w:tbl>`;
    expect(broken(() => open(orphan).tables[0]!.paragraphs)).toContain('none above it');
    expect(broken(() => open('<w:tbl/>').tables)).toContain('no w:tblGrid');
  });

  it('gives a section the footer before it where it has none', () => {
    const footers = { one: paragraph('1'), two: paragraph('2') };
    const section = (reference: string) => `<w:sectPr>${reference}</w:sectPr>`;
    const reference = (id: string, type = 'default') => `<w:footerReference r:id="${id}" w:type="${type}"/>`;
    const body = [
      paragraph('a', section(reference('two', 'even'))),
      paragraph('b', section(reference('one'))),
      section(''),
    ].join('');
    const document = new WordDocument(wordFile({ body, footers }));
    expect(document.footers.map((footer) => footer?.textContent ?? null)).toEqual([null, '1', '1']);
    expect(broken(() => new WordDocument(wordFile({ body: section(reference('none')) })).footers)).toContain(
      'no part none',
    );
  });

  it('measures the text between the margins', () => {
    const page = '<w:sectPr><w:pgSz w:w="12240"/><w:pgMar w:left="1440" w:right="1in"/></w:sectPr>';
    expect(open(page).textWidth).toBe(6.5 * 914400);
    expect(broken(() => open('').textWidth)).toContain('does not say its page');
  });

  it('refuses a package that lacks what it speaks of', () => {
    const link = (target: string, more = '') => `<Relationship Id="x" Type="x/image" Target="${target}"${more}/>`;
    const withLink = (relationships: string) => new WordDocument(wordFile({ body: '', relationships }));
    expect(broken(() => withLink(link('media/a.png')))).toBe('the package has no word/media/a.png');
    expect(broken(() => withLink(link('http://a/', ' TargetMode="External"')).images)).toContain(
      'outside the document',
    );
    expect(broken(() => withLink('<Relationship Id="x"/>'))).toContain('has no Target');
    expect(broken(() => new WordDocument(wordFile({ body: '', type: 'template.main' })))).toContain('no Word document');
    expect(broken(() => new WordDocument(new TextEncoder().encode('text')))).toContain('no zip archive');
    expect(broken(() => open('<w:p>'))).toContain('word/document.xml');
  });
});
