import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { MAIL_ROOT } from '../defaults.ts';
import { DOCUMENTS, Hand, nodesOf } from '../desktop.testing.ts';

const HOME = '/home/user';

describe('gimp', () => {
  const PHOTO = `${HOME}/Pictures/photo.png`;
  const pixels = (hand: Hand, path = PHOTO) => {
    const png = decode(hand.desktop.vfs.readBytes(path)!);
    const at = (x: number, y: number) => [...png.data.slice((y * png.width + x) * 3, (y * png.width + x) * 3 + 3)];
    return { width: png.width, height: png.height, at };
  };

  it('mirrors, turns, shrinks and crops', () => {
    const before = pixels(new Hand());
    const flip = pixels(new Hand().open(PHOTO).menu('Image', 'Flip Horizontal').keys('ctrl', 's'));
    expect(flip.at(0, 17)).toEqual(before.at(27, 17));
    expect(flip.at(21, 5)).toEqual(before.at(6, 5));
    const turned = pixels(new Hand().open(PHOTO).menu('Image', 'Rotate Right').menu('File', 'Save'));
    expect([turned.width, turned.height]).toEqual([18, 28]);
    expect(turned.at(17, 3)).toEqual(before.at(3, 0));
    const small = pixels(
      new Hand().open(PHOTO).menu('Image', 'Scale Half').menu('Image', 'Crop Left Half').keys('ctrl', 'e'),
    );
    expect([small.width, small.height]).toEqual([7, 9]);
  });

  it('changes colours, undoes and exports under another name', () => {
    const before = pixels(new Hand()).at(0, 0);
    const hand = new Hand().open(PHOTO).menu('Colors', 'Brighter').menu('Colors', 'Invert').keys('ctrl', 'z');
    hand.menu('File', 'Export As').type('light\n');
    expect(pixels(hand, `${HOME}/Pictures/light.png`).at(0, 0)).toEqual(before.map((v) => Math.min(255, v + 48)));
    expect(pixels(hand).at(0, 0)).toEqual(before);
    hand.menu('Colors', 'Desaturate').keys('ctrl', 's');
    const [r, g, b] = pixels(hand, `${HOME}/Pictures/light.png`).at(0, 0);
    expect([g, b]).toEqual([r, r]);
  });

  it('opens by dialog and keeps preferences', () => {
    const hand = new Hand()
      .launch('gimp')
      .menu('File', 'Open')
      .click('list-item', 'cat.png')
      .click('push-button', 'Open');
    expect(hand.title).toBe('cat.png - GIMP');
    hand
      .menu('Edit', 'Preferences')
      .click('check-box', 'Dark Theme')
      .click('entry', 'Undo Levels')
      .type('9')
      .click('push-button', 'OK');
    expect(hand.text(`${HOME}/.config/GIMP/2.10/gimprc`)).toBe(
      '(theme "Dark")\n(show-tips yes)\n(show-grid no)\n(undo-levels 9)\n',
    );
  });
});

describe('thunderbird', () => {
  const mails = (hand: Hand, folder: string) =>
    [
      ...(hand.text(`${MAIL_ROOT}/${folder}`) ?? '').matchAll(
        /X-Mozilla-Status: (\d+)\nFrom: (.*)\nTo: (.*)\nSubject: (.*)\n\n(.*)\n/g,
      ),
    ].map((m) => m.slice(1).join('|'));
  const subjects = (hand: Hand, folder: string) => mails(hand, folder).map((m) => m.split('|')[3]);

  it('stars, reads, deletes and moves mails', () => {
    const hand = new Hand().launch('thunderbird').click('list-item', 'bob invoice').click('push-button', 'Star');
    expect(mails(hand, 'Inbox')[1]).toBe('0004|bob@mail.test|user@mail.test|invoice|please pay 40');
    hand.context('list-item', 'bob invoice', 'Mark Read');
    expect(mails(hand, 'Inbox')[1]).toMatch(/^0005/);
    hand.click('list-item', 'ann lunch').keys('delete').context('list-item', 'eve party', 'Archive');
    expect(subjects(hand, 'Inbox')).toEqual(['invoice', 'meeting', 'photos']);
    expect([subjects(hand, 'Trash'), subjects(hand, 'Archive')]).toEqual([['lunch'], ['party']]);
    hand.click('tree-item', 'Trash').click('list-item', 'ann lunch').click('push-button', 'Delete');
    expect(subjects(hand, 'Trash')).toEqual([]);
  });

  it('makes a folder and moves a mail into it', () => {
    const hand = new Hand().launch('thunderbird').menu('Menu', 'New Folder').type('work\n');
    hand.context('list-item', 'joe meeting', 'Move To').click('list-item', 'work').click('push-button', 'Move');
    expect(subjects(hand, 'work')).toEqual(['meeting']);
  });

  it('writes, replies and keeps drafts', () => {
    const hand = new Hand()
      .launch('thunderbird')
      .click('push-button', 'Write')
      .type('bob\thi\tsee you')
      .click('push-button', 'Send');
    hand.double('list-item', 'sue photos').click('push-button', 'Reply').type('thanks').keys('ctrl', 'enter');
    expect(mails(hand, 'Sent')).toEqual([
      '0001|user@mail.test|bob|hi|see you',
      '0001|user@mail.test|sue@mail.test|re: photos|thanks',
    ]);
    expect(mails(hand, 'Inbox')[4]).toMatch(/^0003/);
    hand.keys('ctrl', 'n').type('eve').click('push-button', 'Save Draft');
    expect(mails(hand, 'Drafts')).toHaveLength(1);
  });

  it('keeps preferences as user_pref lines and leaves others alone', () => {
    const file = `${HOME}/.thunderbird/profile.default/prefs.js`;
    const hand = new Hand().write(file, 'user_pref("other", 1);\n').launch('thunderbird').menu('Menu', 'Preferences');
    hand.click('check-box', 'Plain Text').click('check-box', 'Quote Above').click('push-button', 'OK');
    expect(hand.text(file)).toBe(
      'user_pref("other", 1);\nuser_pref("mail.identity.id1.compose_html", false);\nuser_pref("mail.receipt.request_return_receipt_on", false);\n' +
        'user_pref("mail.SpellCheckBeforeSend", false);\nuser_pref("extensions.activeThemeID", "default-theme@mozilla.org");\n' +
        'user_pref("mail.identity.id1.reply_on_top", 1);\n',
    );
    hand.menu('Menu', 'Preferences');
    expect(hand.states('check-box', 'Plain Text')).toContain('checked');
  });
});

describe('vlc', () => {
  const status = (hand: Hand, tag: string) =>
    new RegExp(`<${tag}>(.*?)</${tag}>`).exec(hand.text(`${HOME}/.config/vlc/status.xml`) ?? '')?.[1];

  it('plays, pauses and stops', () => {
    const hand = new Hand().launch('vlc');
    expect(status(hand, 'state')).toBe('stopped');
    const song = nodesOf(hand.desktop.accessibility()).find((n) => n.role === 'list-item')!.name;
    hand.double('list-item', song);
    expect([status(hand, 'state'), hand.title]).toEqual(['playing', `${song} - VLC media player`]);
    expect(hand.text(`${HOME}/.config/vlc/status.xml`)).toContain(`<info name="filename">${song}</info>`);
    hand.keys('space');
    expect(status(hand, 'state')).toBe('paused');
    hand.click('push-button', 'Stop');
    expect(status(hand, 'state')).toBe('stopped');
  });

  it('scrolls to every song, keeping those out of sight in the tree without a place', () => {
    const hand = new Hand().launch('vlc');
    const songs = () => nodesOf(hand.desktop.accessibility()).filter((n) => n.role === 'list-item');
    const hidden = songs()
      .filter((n) => !n.states.includes('showing'))
      .map((n) => n.name);
    expect([songs().length, hidden.length]).toEqual([10, 4]);
    expect(songs().find((n) => n.name === hidden[0])?.bounds).toBeUndefined();
    hand.desktop.act({ type: 'scroll', direction: 'down' });
    hand.desktop.act({ type: 'scroll', direction: 'down' });
    for (const name of hidden) expect(hand.has('list-item', name)).toBe(true);
  });

  it('sets volume, loop and random', () => {
    const hand = new Hand().launch('vlc').click('push-button', 'Louder').click('toggle-button', 'Loop');
    expect([status(hand, 'volume'), status(hand, 'loop'), status(hand, 'random')]).toEqual(['320', 'true', 'false']);
    const { x, y } = hand.find('slider', 'Volume').bounds!;
    hand.desktop.act({ type: 'click', x: x + 4, y: y + 4 });
    expect(status(hand, 'volume')).toBe('0');
    hand.desktop.act({ type: 'drag', x: x + 4, y: y + 4, to_x: x + 8 * 8 + 1, to_y: y });
    expect(status(hand, 'volume')).toBe('512');
  });

  it('keeps preferences and playlists', () => {
    const hand = new Hand()
      .launch('vlc')
      .menu('Tools', 'Preferences')
      .click('check-box', 'Show Cone')
      .click('entry', 'Folder')
      .type('/tmp');
    hand.click('push-button', 'Save').menu('Media', 'Save Playlist').type('mix\n');
    expect(hand.text(`${HOME}/.config/vlc/vlcrc`)).toBe(
      'fullscreen=0\nqt-minimal-view=0\nplay-and-exit=0\none-instance=0\nqt-bgcone=0\ninput-record-path=/tmp\n',
    );
    expect(hand.text(`${HOME}/Music/mix.m3u`)?.split('\n').filter(Boolean).sort()).toContain('fire.mp3');
  });
});

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

describe('settings', () => {
  it('writes nothing before Apply, and only what was changed', () => {
    const hand = new Hand()
      .launch('gnome-control-center', 'display')
      .click('check-box', 'Dark Mode')
      .click('check-box', 'Large Text');
    hand.click('page-tab', 'Network').click('check-box', 'Wifi');
    expect(hand.text(`${HOME}/.config/dconf/user.ini`)).toBeNull();
    hand.click('push-button', 'Apply');
    expect(hand.text(`${HOME}/.config/dconf/user.ini`)).toBe(
      "[org/gnome/desktop/interface]\ncolor-scheme='prefer-dark'\ntext-scaling-factor=1.25\n\n[system/network]\nwifi=false\n\n",
    );
    expect(hand.desktop.execute('gsettings get org.gnome.desktop.interface color-scheme').output).toBe(
      "'prefer-dark'\n",
    );
    hand.click('check-box', 'Wifi').click('push-button', 'Revert');
    expect(hand.states('check-box', 'Wifi')).not.toContain('checked');
  });

  it('sets the volume by a click or a drag, the wallpaper and the default programs', () => {
    const hand = new Hand().launch('gnome-control-center', 'sound');
    const { x, y } = hand.find('slider', 'Volume').bounds!;
    hand.desktop.act({ type: 'click', x: x + 8 * 7 + 2, y: y + 2 });
    hand
      .click('page-tab', 'Desktop')
      .click('radio-button', 'Green')
      .click('page-tab', 'Defaults')
      .click('radio-button', 'Text Writer');
    const before = hand.desktop.pixels[119 * 160 + 159];
    hand.click('push-button', 'Apply');
    expect(hand.desktop.pixels[119 * 160 + 159]).not.toBe(before);
    expect(hand.desktop.execute('gsettings get org.gnome.desktop.sound volume').output).toBe('70\n');
    expect(hand.text(`${HOME}/.config/mimeapps.list`)).toContain('text/plain=writer.desktop\n');
    expect(hand.open(`${DOCUMENTS}/todo.txt`).title).toBe('todo.txt - LibreOffice Writer');
  });
});
