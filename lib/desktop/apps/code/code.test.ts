import { describe, expect, it } from 'vitest';
import { DOCUMENTS, Hand } from '../../desktop.testing.ts';

const HOME = '/home/user';

describe('code', () => {
  const NOTES = `${DOCUMENTS}/notes.txt`;
  const settings = (hand: Hand) => hand.json(`${HOME}/.config/Code/User/settings.json`);

  it('edits, replaces, comments, sorts and saves', () => {
    const hand = new Hand().open(NOTES).click('paragraph', 'bread').type('rice');
    expect(hand.title).toBe('*notes.txt - Visual Studio Code');
    hand
      .menu('Edit', 'Replace')
      .type('tea\tham')
      .click('push-button', 'Replace All')
      .menu('Edit', 'Sort Lines')
      .keys('ctrl', 's');
    expect(hand.text(NOTES)).toBe('ham\nmilk\nrice\n');
    hand.click('paragraph', 'milk').keys('ctrl', '/').keys('ctrl', 's');
    expect(hand.text(NOTES)).toBe('ham\n# milk\nrice\n');
    expect(hand.title).toBe('notes.txt - Visual Studio Code');
  });

  it('makes new files where the work is, and renames and deletes', () => {
    const hand = new Hand().open(NOTES).menu('File', 'New File').type('x = 1\ny = 2').keys('ctrl', 's').type('a.py\n');
    expect(hand.text(`${DOCUMENTS}/a.py`)).toBe('x = 1\ny = 2\n');
    hand
      .context('list-item', 'a.py', 'Rename')
      .type('b.py\n')
      .context('list-item', 'todo.txt', 'Delete')
      .click('push-button', 'Delete');
    expect([hand.text(`${DOCUMENTS}/a.py`), hand.text(`${DOCUMENTS}/todo.txt`)]).toEqual([null, null]);
    expect(hand.title).toBe('b.py - Visual Studio Code');
  });

  it('saves each setting at once, only what was changed', () => {
    const hand = new Hand()
      .open(NOTES)
      .menu('View', 'Settings')
      .click('check-box', 'Word Wrap')
      .click('check-box', 'Minimap');
    hand.click('entry', 'Font Size').type('18\n').click('entry', 'Tab Size').type('2').click('check-box', 'Auto Save');
    expect(settings(hand)).toEqual({
      'editor.wordWrap': 'on',
      'editor.minimap.enabled': false,
      'editor.fontSize': 18,
      'editor.tabSize': 2,
      'files.autoSave': 'afterDelay',
    });
    hand.click('list-item', 'notes.txt').type('!');
    expect(hand.text(NOTES)).toBe('milk\nbread\ntea!\n');
  });
});
