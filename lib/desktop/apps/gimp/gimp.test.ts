import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { Hand } from '../../desktop.testing.ts';

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
