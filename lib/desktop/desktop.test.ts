import fc from 'fast-check';
import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import type { Action } from '../guest/guest.ts';
import { DOCUMENTS, Hand, nodesOf } from './desktop.testing.ts';
import { EmbeddedDesktop } from './desktop.ts';
import { HEIGHT, WIDTH } from './screen/cells.ts';
import { PALETTE } from './screen/palette.ts';
import { PROGRAMS } from './session/programs.ts';

const place = { x: fc.integer({ min: -5, max: WIDTH + 5 }), y: fc.integer({ min: -5, max: HEIGHT + 5 }) };
const key = fc.constantFrom(
  ...['ctrl', 'shift', 'alt', 'enter', 'esc', 'tab', 'delete', 'backspace', 'left', 'right', 'up', 'down'],
  ...['home', 'end', 'f2', 'space', 'a', 'c', 'h', 'n', 's', 't', 'v', 'w', 'x', 'z'],
);
const text = fc.stringMatching(/^[a-z0-9 .,\-_=+:/@()*\n\té☃]{0,12}$/u);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('click' as const), ...place }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('double_click' as const), ...place }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('right_click' as const), ...place }) },
  fc.record({ type: fc.constant('middle_click' as const), ...place }),
  fc.record({ type: fc.constant('drag' as const), ...place, to_x: place.x, to_y: place.y }),
  fc.record({ type: fc.constant('scroll' as const), direction: fc.constantFrom('up', 'down', 'left', 'right') }),
  { weight: 3, arbitrary: fc.record({ type: fc.constant('type' as const), text }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('hotkey' as const), keys: fc.array(key, { minLength: 1, maxLength: 3 }) }),
  },
  fc.record({ type: fc.constant('mouse_down' as const), button: fc.constantFrom('left', 'right') }),
  fc.record({ type: fc.constant('mouse_up' as const), button: fc.constantFrom('left', 'right') }),
  fc.record({ type: fc.constant('key_down' as const), key }),
  fc.record({ type: fc.constant('key_up' as const), key }),
);
const app = fc.constantFrom(...PROGRAMS.map((p) => p.windowClass));
const episode = fc.record({
  seed: fc.integer({ min: 0, max: 2_000_000 }),
  apps: fc.array(app, { maxLength: 3 }),
  actions: fc.array(action, { maxLength: 30 }),
});
type Episode = { seed: number; apps: string[]; actions: Action[] };

function play(desktop: EmbeddedDesktop, { seed, apps, actions }: Episode): void {
  desktop.reset(seed);
  for (const name of apps) desktop.launch([name]);
  for (const each of actions) desktop.act(each);
}

function filesOf(desktop: EmbeddedDesktop): Record<string, string | null> {
  return Object.fromEntries(desktop.vfs.below('/').map((path) => [path, desktop.vfs.readText(path)]));
}

describe('EmbeddedDesktop', () => {
  it('gives the same pixels, tree and files for the same seed and actions, whatever came before', () => {
    const used = new EmbeddedDesktop(5);
    fc.assert(
      fc.property(episode, (e) => {
        const fresh = new EmbeddedDesktop(0);
        play(fresh, e);
        play(used, e);
        expect(Buffer.compare(fresh.pixels, used.pixels)).toBe(0);
        expect(used.accessibility()).toEqual(fresh.accessibility());
        expect(filesOf(used)).toEqual(filesOf(fresh));
      }),
      { numRuns: 80 },
    );
  });

  it('redraws only what changed, with the same pixels as drawing everything', () => {
    const partly = new EmbeddedDesktop(0);
    const whole = new EmbeddedDesktop(0);
    fc.assert(
      fc.property(episode, (e) => {
        play(partly, { ...e, actions: [] });
        play(whole, { ...e, actions: [] });
        for (const each of e.actions) {
          partly.act(each);
          whole.act(each);
          whole.render(true);
          expect(Buffer.compare(partly.pixels, whole.pixels)).toBe(0);
        }
      }),
      { numRuns: 80 },
    );
  });

  it('never throws and keeps its picture and tree sound', () => {
    const desktop = new EmbeddedDesktop(0);
    fc.assert(
      fc.property(episode, (e) => {
        play(desktop, e);
        expect(Math.max(...desktop.pixels)).toBeLessThan(64);
        for (const node of nodesOf(desktop.accessibility())) {
          if (!node.bounds) continue;
          const { x, y, width, height } = node.bounds;
          expect([x % 8, y % 8, width % 8, height % 8]).toEqual([0, 0, 0, 0]);
          expect(x >= 0 && y >= 0 && x + width <= WIDTH && y + height <= HEIGHT).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('reaches every widget that is showing by a click at its centre', () => {
    for (const program of PROGRAMS) {
      const desktop = new EmbeddedDesktop(7);
      desktop.launch([program.windowClass]);
      const targets = nodesOf(desktop.accessibility()).filter((n) => n.bounds && n.states.includes('showing'));
      expect(targets.length).toBeGreaterThan(10);
      for (const target of targets) {
        desktop.reset(7);
        desktop.launch([program.windowClass]);
        const { x, y, width, height } = target.bounds!;
        for (const type of ['click', 'double_click', 'right_click'] as const) {
          desktop.act({ type, x: x + (width >> 1), y: y + (height >> 1) });
        }
      }
    }
  });

  it('lays things out differently for different seeds', () => {
    const frames = new Set<string>();
    for (let seed = 0; seed < 40; seed++) {
      const desktop = new EmbeddedDesktop(seed);
      desktop.launch(['nautilus', DOCUMENTS]);
      frames.add(Buffer.from(desktop.pixels).toString('base64'));
    }
    expect(frames.size).toBe(40);
  });

  it('writes its frame as a PNG that other software reads', () => {
    const desktop = new EmbeddedDesktop(3);
    desktop.launch(['vlc']);
    const png = decode(desktop.png());
    expect([png.width, png.height, png.channels]).toEqual([160, 120, 1]);
    expect(Buffer.compare(Buffer.from(png.data), Buffer.from(desktop.pixels))).toBe(0);
    expect(png.palette?.[desktop.pixels[0]!]).toEqual([
      ...PALETTE.slice(desktop.pixels[0]! * 3, desktop.pixels[0]! * 3 + 3),
    ]);
    expect(desktop.png()).toBe(desktop.png());
  });
});

describe('windows', () => {
  it('opens a program once, brings it to the front again, and closes it', () => {
    const hand = new Hand().click('push-button', 'Calc').click('push-button', 'VLC');
    expect(hand.title).toBe('VLC media player');
    hand.click('push-button', 'Calc');
    expect(hand.title).toBe('Untitled.csv - LibreOffice Calc');
    expect(nodesOf(hand.desktop.accessibility()).filter((n) => n.role === 'frame')).toHaveLength(2);
    hand.click('push-button', 'Close');
    expect(hand.title).toBe('VLC media player');
    hand.keys('alt', 'f4');
    expect(hand.title).toBe('');
  });

  it('finds windows by a part of the title, the whole title or the class', () => {
    const { desktop } = new Hand().launch('vlc').open(`${DOCUMENTS}/data.csv`);
    expect(desktop.activateWindow('VLC')).toBe(true);
    expect(desktop.activateWindow('calc', { strict: true })).toBe(false);
    expect(desktop.activateWindow('libreoffice-calc', { byClass: true })).toBe(true);
    expect(desktop.closeWindow('data.csv')).toBe(true);
    expect(desktop.closeWindow('data.csv')).toBe(false);
  });

  it('closes a menu by a click elsewhere, which does nothing else, and by esc', () => {
    const hand = new Hand().launch('libreoffice', '--calc').click('menu', 'Edit');
    expect(hand.has('menu-item', 'Delete Row')).toBe(true);
    expect(hand.has('push-button', 'VLC')).toBe(false);
    hand.desktop.act({ type: 'click', x: 2, y: 118 });
    expect(hand.has('menu-item', 'Delete Row')).toBe(false);
    hand.click('menu', 'Edit').keys('esc');
    expect(hand.has('menu-item', 'Delete Row')).toBe(false);
  });

  it('keeps dialogs modal', () => {
    const hand = new Hand().launch('vlc').menu('Tools', 'Preferences');
    expect(hand.has('push-button', 'Play')).toBe(false);
    expect(hand.has('push-button', 'Calc')).toBe(false);
    hand.keys('esc');
    expect(hand.has('push-button', 'Play')).toBe(true);
  });

  it('unpins and pins applications of the dock', () => {
    const hand = new Hand().context('push-button', 'VLC', 'Unpin');
    expect(hand.has('push-button', 'VLC')).toBe(false);
    expect(hand.desktop.execute('gsettings get org.gnome.shell favorite-apps').output).toBe(
      "['chrome', 'gimp', 'calc', 'slides', 'writer', 'mail', 'code', 'files', 'term', 'system']\n",
    );
    hand.launch('vlc').context('push-button', 'VLC', 'Pin').keys('alt', 'f4');
    expect(hand.has('push-button', 'VLC')).toBe(true);
  });
});

describe('entries', () => {
  it('select all on the first click, append after the second', () => {
    const hand = new Hand().open(`${DOCUMENTS}/deck.odp`).click('entry', 'Title').type('tea');
    expect(hand.find('entry', 'Title').text).toBe('tea');
    hand.click('entry', 'Text').click('entry', 'Title').click('entry', 'Title').type('pot');
    expect(hand.find('entry', 'Title').text).toBe('teapot');
  });

  it('know caret keys, clipboard and undo', () => {
    const hand = new Hand().open(`${DOCUMENTS}/deck.odp`).click('entry', 'Title').type('abc').keys('home').type('x');
    expect(hand.find('entry', 'Title').text).toBe('xabc');
    hand.keys('delete').keys('end').keys('backspace');
    expect(hand.find('entry', 'Title').text).toBe('xb');
    hand.keys('ctrl', 'a').keys('ctrl', 'x').click('entry', 'Notes').keys('ctrl', 'v').keys('ctrl', 'v');
    expect([hand.find('entry', 'Title').text, hand.find('entry', 'Notes').text]).toEqual(['', 'xbxb']);
    hand.keys('ctrl', 'z');
    expect(hand.find('entry', 'Notes').text).toBe('xb');
  });

  it('pass the focus on with tab', () => {
    const hand = new Hand().launch('thunderbird').click('push-button', 'Write').type('bob\thello\tbye');
    expect(['To', 'Subject', 'Body'].map((name) => hand.find('entry', name).text)).toEqual(['bob', 'hello', 'bye']);
  });
});
