import { describe, expect, it } from 'vitest';
import { DOCUMENTS, Hand } from '../desktop.testing.ts';

const HOME = '/home/user';

describe('files', () => {
  it('opens folders and files with the right program', () => {
    const hand = new Hand()
      .click('push-button', 'Files')
      .double('list-item', 'Pictures')
      .double('list-item', 'cat.png');
    expect(hand.title).toBe('cat.png - GIMP');
    const open = (path: string) => new Hand().open(path).title;
    expect(open(`${DOCUMENTS}/report.md`)).toBe('report.md - LibreOffice Writer');
    expect(open(`${HOME}/Music/moon.mp3`)).toBe('moon.mp3 - VLC media player');
    expect(open(`${DOCUMENTS}/todo.txt`)).toBe('todo.txt - Visual Studio Code');
    expect(open(DOCUMENTS)).toBe('Documents - Files');
  });

  it('renames, copies, cuts and makes folders', () => {
    const hand = new Hand()
      .open(DOCUMENTS)
      .context('list-item', 'todo.txt', 'Rename')
      .type('jobs.txt')
      .click('push-button', 'Rename');
    hand.context('list-item', 'jobs.txt', 'Copy').click('push-button', 'Paste');
    expect(hand.text(`${DOCUMENTS}/jobs copy.txt`)).toBe('call bob\npay rent\n');
    hand
      .click('push-button', 'New Folder')
      .type('old')
      .click('push-button', 'Create')
      .context('list-item', 'notes.txt', 'Cut');
    hand.double('list-item', 'old').click('push-button', 'Paste');
    expect([hand.text(`${DOCUMENTS}/old/notes.txt`), hand.text(`${DOCUMENTS}/notes.txt`)]).toEqual([
      'milk\nbread\ntea\n',
      null,
    ]);
  });

  it('moves to the trash, restores, and deletes only when told to', () => {
    const hand = new Hand().open(DOCUMENTS).context('list-item', 'data.csv', 'Delete').click('push-button', 'Cancel');
    expect(hand.text(`${DOCUMENTS}/data.csv`)).not.toBeNull();
    hand.context('list-item', 'data.csv', 'Move to Trash').click('list-item', 'todo.txt').keys('delete');
    expect(hand.text(`${HOME}/.local/share/Trash/info/todo.txt.trashinfo`)).toContain(`Path=${DOCUMENTS}/todo.txt\n`);
    hand
      .click('list-item', 'Trash')
      .context('list-item', 'todo.txt', 'Restore')
      .context('list-item', 'data.csv', 'Delete');
    hand.click('push-button', 'Delete');
    expect([hand.text(`${DOCUMENTS}/todo.txt`), hand.text(`${DOCUMENTS}/data.csv`)]).toEqual([
      'call bob\npay rent\n',
      null,
    ]);
    expect(hand.desktop.vfs.list(`${HOME}/.local/share/Trash/files`)).toEqual([]);
  });
});
