import { describe, expect, it } from 'vitest';
import { Hand } from '../../desktop.testing.ts';
import { MAIL_ROOT } from '../../files/defaults.ts';

const HOME = '/home/user';

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
