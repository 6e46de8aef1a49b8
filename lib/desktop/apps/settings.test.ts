import { describe, expect, it } from 'vitest';
import { DOCUMENTS, Hand } from '../desktop.testing.ts';

const HOME = '/home/user';

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
