import { describe, expect, it } from 'vitest';
import { Hand, nodesOf } from '../desktop.testing.ts';

const HOME = '/home/user';

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

  it('scrolls by three rows, the five wheel clicks of UI-TARS, unless told otherwise', () => {
    const firstAfter = (amount?: number) => {
      const hand = new Hand().launch('vlc');
      hand.desktop.act({ type: 'scroll', direction: 'down', amount });
      return nodesOf(hand.desktop.accessibility())
        .filter((n) => n.role === 'list-item')
        .findIndex((n) => n.bounds);
    };
    expect([firstAfter(), firstAfter(5), firstAfter(1), firstAfter(3), firstAfter(100)]).toEqual([3, 3, 1, 2, 4]);
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
