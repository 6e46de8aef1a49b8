import { describe, expect, it } from 'vitest';
import { DOCUMENTS, Hand } from '../desktop.testing.ts';

const CSV = `${DOCUMENTS}/data.csv`;
const MD = `${DOCUMENTS}/report.md`;
const ODP = `${DOCUMENTS}/deck.odp`;

describe('calc', () => {
  it('replaces a cell by typing and saves the shown values', () => {
    const hand = new Hand().open(CSV).click('table-cell', 'B2').type('7\n').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,qty,price\npear,7,2\nfig,5,4\nplum,2,6\n');
  });

  it('saves an edit that was not committed', () => {
    const hand = new Hand().open(CSV).click('table-cell', 'D1').type('sum').keys('ctrl', 's');
    expect(hand.text(CSV)).toMatch(/^name,qty,price,sum\n/);
  });

  it('works out formulas, also after what they need has changed', () => {
    const hand = new Hand().open(CSV).click('table-cell', 'D2').type('=b2*c2\n=sum(b2:b4)\n=average(c2:c4)+1\n');
    expect(['D2', 'D3', 'D4'].map((n) => hand.find('table-cell', n).text)).toEqual(['6', '10', '5']);
    hand.click('table-cell', 'B2').type('10\n');
    expect(['D2', 'D3'].map((n) => hand.find('table-cell', n).text)).toEqual(['20', '17']);
  });

  it('shows an error for what has no value, also for cells that need themselves', () => {
    const hand = new Hand().open(CSV).click('table-cell', 'D1').type('=1/0\n=d3\n=d2\n=a1+1\n=(((\n');
    for (const name of ['D1', 'D2', 'D3', 'D4', 'D5']) expect(hand.find('table-cell', name).text).toBe('#ERR');
  });

  it('sorts below the heading, both ways', () => {
    const hand = new Hand().open(CSV).click('table-cell', 'B1').menu('Data', 'Sort Ascending').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,qty,price\nplum,2,6\npear,3,2\nfig,5,4\n');
    hand.click('table-cell', 'A3').menu('Data', 'Sort Descending').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,qty,price\nplum,2,6\npear,3,2\nfig,5,4\n');
    hand.click('table-cell', 'A3').menu('Data', 'Sort Ascending').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,qty,price\nfig,5,4\npear,3,2\nplum,2,6\n');
  });

  it('deletes and inserts rows, deletes columns, and takes it back', () => {
    const hand = new Hand().open(CSV).click('table-row-header', '3').menu('Edit', 'Delete Row').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,qty,price\npear,3,2\nplum,2,6\n');
    hand.click('table-column-header', 'B').menu('Edit', 'Delete Column').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,price\npear,2\nplum,6\n');
    hand.keys('ctrl', 'z').keys('ctrl', 'z').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,qty,price\npear,3,2\nfig,5,4\nplum,2,6\n');
    hand.click('table-cell', 'A2').menu('Edit', 'Insert Row').keys('ctrl', 's');
    expect(hand.text(CSV)).toBe('name,qty,price\n\npear,3,2\nfig,5,4\nplum,2,6\n');
  });

  it('edits through the input line', () => {
    const hand = new Hand().open(CSV).click('table-cell', 'A2').click('entry', 'Input line').type('kiwi\n');
    expect(hand.find('table-cell', 'A2').text).toBe('kiwi');
    hand.click('entry', 'Input line').type('lime').click('table-cell', 'D8');
    expect(hand.find('table-cell', 'A3').text).toBe('lime');
  });

  it('keeps formats in .ods', () => {
    const hand = new Hand()
      .open(CSV)
      .click('table-cell', 'A1')
      .keys('ctrl', 'b')
      .menu('File', 'Save As')
      .type('fmt.ods\n');
    expect(hand.title).toBe('fmt.ods - LibreOffice Calc');
    expect(hand.json(`${DOCUMENTS}/fmt.ods`).cells).toMatchObject({
      A1: { content: 'name', value: 'name', bold: true },
      B2: { content: '3', value: '3' },
    });
    const again = new Hand()
      .write(`${DOCUMENTS}/x.ods`, hand.text(`${DOCUMENTS}/fmt.ods`) ?? '')
      .open(`${DOCUMENTS}/x.ods`);
    again.click('table-cell', 'A1').menu('Format', 'Bold').keys('ctrl', 's');
    expect(again.text(`${DOCUMENTS}/x.ods`)).not.toContain('bold');
  });

  it('copies a cell, clears it, and asks for a name when there is none', () => {
    const hand = new Hand().launch('localc').type('=1+1\n').click('table-cell', 'A1').keys('ctrl', 'c');
    hand
      .click('table-cell', 'B1')
      .keys('ctrl', 'v')
      .click('table-cell', 'A1')
      .keys('delete')
      .keys('ctrl', 's')
      .type('two\n');
    expect(hand.text(`${DOCUMENTS}/two.csv`)).toBe(',2\n');
  });
});

describe('writer', () => {
  it('replaces a selected line and keeps its format', () => {
    const hand = new Hand().open(MD).click('paragraph', 'sales went up').click('toggle-button', 'Bold');
    expect(hand.states('toggle-button', 'Bold')).toContain('checked');
    hand.type('all is well').keys('ctrl', 's');
    expect(hand.text(MD)).toBe('summer report\n**all is well**\ncosts went down\n');
  });

  it('appends after end, and at the end of the text to begin with', () => {
    const hand = new Hand()
      .open(MD)
      .type(' a lot')
      .click('paragraph', 'summer report')
      .keys('end')
      .type(' 2025')
      .keys('ctrl', 's');
    expect(hand.text(MD)).toBe('summer report 2025\nsales went up\ncosts went down a lot\n');
  });

  it('formats lines and reads its own files again', () => {
    const hand = new Hand()
      .open(MD)
      .click('paragraph', 'summer report')
      .menu('Format', 'Heading')
      .menu('Format', 'Uppercase');
    hand.click('paragraph', 'sales went up').click('toggle-button', 'List').click('toggle-button', 'Italic');
    hand.click('paragraph', 'costs went down').click('toggle-button', 'Center').keys('ctrl', 's');
    const saved = '# SUMMER REPORT\n- *sales went up*\n<center>costs went down</center>\n';
    expect(hand.text(MD)).toBe(saved);
    expect(new Hand().write(MD, saved).open(MD).keys('ctrl', 's').text(MD)).toBe(saved);
  });

  it('finds and replaces, removes lines, splits them and undoes', () => {
    const hand = new Hand().open(MD).menu('Edit', 'Find Replace').type('went\tgo').click('push-button', 'Replace All');
    hand.click('paragraph', 'summer report').keys('delete').keys('ctrl', 's');
    expect(hand.text(MD)).toBe('sales go up\ncosts go down\n');
    hand.click('paragraph', 'sales go up').keys('enter').type('new').keys('ctrl', 's');
    expect(hand.text(MD)).toBe('sales go up\nnew\ncosts go down\n');
    hand.keys('ctrl', 'z').keys('ctrl', 'z').keys('ctrl', 's');
    expect(hand.text(MD)).toBe('sales go up\ncosts go down\n');
  });

  it('copies lines and saves under another name', () => {
    const hand = new Hand()
      .open(MD)
      .click('paragraph', 'sales went up')
      .keys('ctrl', 'c')
      .keys('ctrl', 'end')
      .keys('enter')
      .keys('ctrl', 'v');
    hand.menu('File', 'Save As').type('copy').click('push-button', 'Save');
    expect(hand.text(`${DOCUMENTS}/copy.md`)).toBe('summer report\nsales went up\ncosts went down\nsales went up\n');
    expect(hand.text(MD)).toBe('summer report\nsales went up\ncosts went down\n');
    expect(hand.title).toBe('copy.md - LibreOffice Writer');
  });
});

describe('impress', () => {
  const titles = (hand: Hand) => (hand.json(ODP).slides as { title: string }[]).map((s) => s.title);

  it('adds, names, duplicates, deletes and moves slides', () => {
    const hand = new Hand()
      .open(ODP)
      .click('list-item', '2 plan')
      .menu('Slide', 'New Slide')
      .type('risks')
      .keys('ctrl', 's');
    expect(titles(hand)).toEqual(['intro', 'plan', 'risks', 'budget']);
    hand.context('list-item', '4 budget', 'Move Up').keys('ctrl', 's');
    expect(titles(hand)).toEqual(['intro', 'plan', 'budget', 'risks']);
    hand.click('list-item', '1 intro').menu('Slide', 'Delete').keys('ctrl', 's');
    expect(titles(hand)).toEqual(['plan', 'budget', 'risks']);
    hand.click('list-item', '1 plan').menu('Slide', 'Duplicate').keys('ctrl', 's');
    expect(titles(hand)).toEqual(['plan', 'plan', 'budget', 'risks']);
  });

  it('writes text, notes, background and hiding', () => {
    const hand = new Hand().open(ODP).click('list-item', '3 budget').click('entry', 'Notes').type('ask ann');
    hand.menu('Format', 'Blue').menu('Slide', 'Hide Slide').click('entry', 'Title').type('money').keys('ctrl', 's');
    expect((hand.json(ODP).slides as unknown[])[2]).toEqual({
      title: 'money',
      text: '',
      notes: 'ask ann',
      background: 'blue',
      hidden: true,
    });
  });
});
