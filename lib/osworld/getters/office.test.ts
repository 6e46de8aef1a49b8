import { describe, expect, it } from 'vitest';
import { contextOf, type FetchedFile, type Fidelity } from '../context.ts';
import { GETTERS } from '../evaluate.ts';
import { Fields } from '../fields.ts';
import { FakeGuest } from '../guest.testing.ts';
import { type Changed, documentOf } from '../metrics/slides/slides.testing.ts';
import { normaliseTask } from '../task.ts';

const task = normaliseTask({ id: 't1', instruction: 'do it', evaluator: { func: 'infeasible' } }, 'x');
const DECK = '/home/user/Desktop/deck.pptx';
const UPRIGHT: Changed = { file: 'upright.pptx' };
const MUSIC = '/home/user/Music/beep.wav';

function guestWith(deck: Changed): FakeGuest {
  const guest = new FakeGuest().put(MUSIC, 'beep');
  guest.files.set(DECK, documentOf(deck).bytes);
  return guest;
}

async function get(type: string, guest: FakeGuest, slide: number, fidelity?: Fidelity) {
  const config = new Fields(type, 't1', { ppt_file_path: DECK, slide_index: slide, dest: 'medium' });
  const context = contextOf(task, guest, { protocol: { fidelity } });
  return (await GETTERS.get(type)!(config, context)) as FetchedFile | null;
}

const text = (file: FetchedFile | null) => file && [file.name, new TextDecoder().decode(file.bytes)];
const RELS = 'ppt/slides/_rels/slide1.xml.rels';
const LINK = `Target="file://${MUSIC}" TargetMode="External"`;

describe('audio_in_slide', () => {
  it('brings the linked file from the guest', async () => {
    expect(text(await get('audio_in_slide', guestWith(UPRIGHT), 0))).toEqual(['medium', 'beep']);
    const guest = guestWith(UPRIGHT);
    guest.files.delete(MUSIC);
    expect(await get('audio_in_slide', guest, 0)).toBeNull();
  });

  it('brings the embedded file out of the presentation', async () => {
    const embedded: Changed = { ...UPRIGHT, edits: [[RELS, LINK, 'Target="../media/image3.png"']] };
    const file = await get('audio_in_slide', guestWith(embedded), 0);
    expect(file?.name).toBe('image3.png');
    expect(Buffer.from(file!.bytes).subarray(1, 4).toString()).toBe('PNG');
  });

  it.each<[string, Changed, number]>([
    ['a slide without sound', UPRIGHT, 1],
    ['a slide that is not there', UPRIGHT, 9],
    ['a link to the web', { ...UPRIGHT, edits: [[RELS, `file://${MUSIC}`, 'https://example.org/beep.wav']] }, 0],
    ['an embedded file that is not there', { ...UPRIGHT, edits: [[RELS, LINK, 'Target="../media/none.wav"']] }, 0],
    ['no presentation', { ...UPRIGHT, edits: [['', 'PK\x05\x06', 'xx']] }, 0],
  ])('gives nothing for %s', async (_what, deck, slide) => {
    expect(await get('audio_in_slide', guestWith(deck), slide)).toBeNull();
  });

  it('gives nothing without a presentation', async () => {
    expect(await get('audio_in_slide', new FakeGuest(), 0)).toBeNull();
  });
});

describe('background_image_in_slide', () => {
  it('brings the picture behind the slide, not one on it', async () => {
    const file = await get('background_image_in_slide', guestWith(UPRIGHT), 1);
    expect(file?.name).toBe('image3.png');
    // 4 by 4 pixels, as a PNG's header says: the tile, not the picture of 24 by 18.
    expect([...file!.bytes.subarray(16, 24)]).toEqual([0, 0, 0, 4, 0, 0, 0, 4]);
  });

  it('gives nothing for a slide without one', async () => {
    expect(await get('background_image_in_slide', guestWith(UPRIGHT), 0)).toBeNull();
    expect(await get('background_image_in_slide', guestWith({ file: 'dress.pptx' }), 0)).toBeNull();
    expect(await get('background_image_in_slide', guestWith(UPRIGHT), 9)).toBeNull();
  });

  it('takes slides by the numbers of their files, and strictly by their order', async () => {
    const rels = 'ppt/_rels/presentation.xml.rels';
    const swap = [
      ['slides/slide1.xml', 'slides/slideX.xml'],
      ['slides/slide2.xml', 'slides/slide1.xml'],
      ['slides/slideX.xml', 'slides/slide2.xml'],
    ].map(([old, now]): [string, string, string] => [rels, old!, now!]);
    const guest = guestWith({ ...UPRIGHT, edits: swap });
    expect((await get('background_image_in_slide', guest, 1))?.name).toBe('image3.png');
    expect(await get('background_image_in_slide', guest, 1, 'strict')).toBeNull();
    expect((await get('background_image_in_slide', guest, 0, 'strict'))?.name).toBe('image3.png');
  });
});
