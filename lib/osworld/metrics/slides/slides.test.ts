import { describe, expect, it } from 'vitest';
import { DartError } from '../../../errors.ts';
import type { AccessibleNode } from '../../../guest/guest.ts';
import { Fields } from '../../fields.ts';
import { slideMetrics } from './index.ts';
import { type Changed, scoreOf } from './slides.testing.ts';

const tested = new Set<string>();
const score = (metric: string, result: Changed, expected?: unknown, options: Record<string, unknown> = {}) => {
  tested.add(metric);
  return scoreOf({ metric, result, expected, options });
};
const strictly = (metric: string, result: Changed, expected?: unknown, options: Record<string, unknown> = {}) =>
  scoreOf({ metric, result, expected, options }, 'strict');

const LIBRARY: Changed = { file: 'library.pptx' };
const SLIDE1 = 'ppt/slides/slide1.xml';
const SLIDE2 = 'ppt/slides/slide2.xml';
const SLIDE3 = 'ppt/slides/slide3.xml';
const SLIDE4 = 'ppt/slides/slide4.xml';
/** A background in a colour of the theme. */
const THEME = '<p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg2"/></a:solidFill></p:bgPr></p:bg>';
const library = (...edits: [string, string, string][]): Changed => ({ ...LIBRARY, edits });

describe('metrics of presentations', () => {
  it.each<[string, [string, string, string], number]>([
    ['a title', [SLIDE1, 'Harbour report', 'Harbour rapport'], 0],
    ['bold taken away', [SLIDE1, ' b="1"', ''], 0],
    ['not bold, said aloud', [SLIDE1, '<a:rPr u="sng"/>', '<a:rPr u="sng" b="0"/>'], 1],
    ['left, said aloud', [SLIDE1, '<a:p><a:r><a:t>Spring', '<a:p><a:pPr algn="l"/><a:r><a:t>Spring'], 1],
    ['to the right', [SLIDE1, '<a:p><a:r><a:t>Spring', '<a:p><a:pPr algn="r"/><a:r><a:t>Spring'], 0],
    ['half a percent of a place', [SLIDE1, 'x="720000"', 'x="723000"'], 1],
    ['two percent of a place', [SLIDE1, 'x="720000"', 'x="735000"'], 0],
    ['the place that the master gives', [SLIDE2, '<p:spPr/>', place(457200, 274638, 8229600, 1143000)], 1],
    ['another place', [SLIDE2, '<p:spPr/>', place(457200, 574638, 8229600, 1143000)], 0],
  ])('compare_pptx_files: %s', async (_what, edit, wanted) => {
    expect(await score('compare_pptx_files', library(edit), LIBRARY)).toBe(wanted);
  });

  it('compare_pptx_files looks away where the task says so', async () => {
    const bold = library([SLIDE1, ' b="1"', '']);
    expect(await score('compare_pptx_files', bold, LIBRARY, { examine_font_bold: false })).toBe(1);
    expect(await score('compare_pptx_files', bold, LIBRARY, { examine_font_italic: false })).toBe(0);
    const moved = library([SLIDE1, 'x="720000"', 'x="735000"']);
    expect(await score('compare_pptx_files', moved, LIBRARY, { approximately_tolerance: 0.03 })).toBe(1);
  });

  it('scores what LibreOffice made of the deck', async () => {
    const dress: Changed = { file: 'dress.pptx' };
    const impress: Changed = { file: 'impress.pptx' };
    expect(await score('check_transition', dress, { slide_idx: 0, transition_type: 'dissolve' })).toBe(1);
    expect(await score('check_transition', impress, { slide_idx: 0, transition_type: 'dissolve' })).toBe(0);
    expect(await score('check_slide_orientation_Portrait', { file: 'upright.pptx' })).toBe(1);
    expect(await score('check_slide_orientation_Portrait', impress)).toBe(0);
    expect(await score('check_page_number_colors', dress, { color: 'red' })).toBe(1);
    expect(await score('check_page_number_colors', impress, { color: 'red' })).toBe(0);
    expect(await score('check_image_stretch_and_center', { file: 'move.pptx' }, impress)).toBe(1);
    expect(await score('check_image_stretch_and_center', impress, impress)).toBe(0);
    const blue = { rgb: [0, 0, 255], original_rgb: [255, 255, 255] };
    expect(await score('evaluate_presentation_fill_to_rgb_distance', dress, blue)).toBe(1);
    // Three slides without a colour are 1 away, one of 123456 by √(18² + 52² + (255 - 86)²) / √(3 · 255²) = 0.4024.
    expect(await score('evaluate_presentation_fill_to_rgb_distance', impress, blue)).toBeCloseTo((1 - 0.4024) / 4, 4);
    const struck = { slide_index_s: [3], shape_index_s: [3], paragraph_index_s: [0] };
    expect(await score('check_strikethrough', LIBRARY, struck)).toBe(1);
    expect(await score('check_strikethrough', LIBRARY, { ...struck, paragraph_index_s: [0, 1] })).toBe(0);
  });

  it('check_slide_numbers_color wants a slide with a number, and red of its own on the master', async () => {
    const number: [string, string, string] = [SLIDE1, '<a:t>Spring<', '<a:t>7<'];
    const master = 'ppt/slideMasters/slideMaster1.xml';
    const red = '<a:pPr><a:defRPr><a:solidFill><a:srgbClr val="FF0000"/></a:solidFill></a:defRPr></a:pPr>';
    const own: [string, string, string] = [master, '<a:p><a:fld', `<a:p>${red}<a:fld`];
    const name: [string, string, string] = [master, '‹#›', '&lt;number&gt;'];
    const dateIsFirst: [string, string, string] = [master, '<a:p><a:fld', '<a:p><a:x/><a:fld'];
    expect(await score('check_slide_numbers_color', library(number, dateIsFirst, own, name))).toBe(1);
    expect(await score('check_slide_numbers_color', library(number, name))).toBe(0);
    expect(await score('check_slide_numbers_color', library(dateIsFirst, own, name))).toBe(0);
  });

  it("reads LibreOffice's settings", async () => {
    const settings: Changed = { file: 'settings.xcu' };
    const changed = (old: string, now: string): Changed => ({ ...settings, edits: [['', old, now]] });
    expect(await score('check_presenter_console_disable', settings)).toBe(1);
    expect(await score('check_presenter_console_disable', changed('>false<', '>true<'))).toBe(0);
    expect(await score('check_auto_saving_time', settings, { minutes: 3 })).toBe(1);
    expect(await score('check_auto_saving_time', settings, { minutes: 10 })).toBe(0);
    expect(await score('check_libre_locale', settings, { locale_set: ['de-*', 'en-?B'] })).toBe(1);
    expect(await score('check_libre_locale', settings, { locale_set: ['en', '[!e]n-GB'] })).toBe(0);
  });

  it("check_left_panel finds the slides' panel in the accessibility tree", async () => {
    const node = (role: string, name: string, children: AccessibleNode[] = []) => ({
      role,
      name,
      states: [],
      children,
    });
    const panel = (open: unknown) => {
      tested.add('check_left_panel');
      const isXml = typeof open === 'string';
      const file = () => ({ name: 'tree.xml', bytes: Buffer.from(`<desktop-frame>${open}</desktop-frame>`) });
      const tree = () => node('desktop-frame', 'main', [node('frame', 'Deck', [open as AccessibleNode])]);
      const result = isXml ? file() : tree();
      const options = new Fields('options', 't1', {});
      return slideMetrics.check_left_panel!({
        result,
        expected: undefined,
        options,
        name: 'check_left_panel',
        where: 't1',
      });
    };
    expect(await panel(node('document-frame', 'Slides View'))).toBe(1);
    expect(await panel(node('document-frame', 'Drawing View'))).toBe(0);
    expect(await panel(node('panel', 'Slides View'))).toBe(0);
    expect(await panel('<document-frame name="Slides View"/>')).toBe(1);
    expect(await panel('<document-frame name="Drawing View"/><panel name="Slides View"/>')).toBe(0);
    expect(await panel('<document-frame name="Slides View">')).toBe(0);
  });

  it('has a test here for every metric', () => {
    expect(Object.keys(slideMetrics).filter((name) => !tested.has(name))).toEqual([]);
  });
});

describe('trouble', () => {
  const ARCHIVE: [string, string, string] = ['', 'PK\x05\x06', 'xx'];
  const RULES = {
    minutes: 3,
    locale_set: ['en-GB'],
    slide_idx: 0,
    transition_type: 'dissolve',
    color: 'red',
    rgb: [0, 0, 0],
  };
  const INDICES = { slide_index_s: [0], shape_index_s: [0], paragraph_index_s: [0] };

  it.each(Object.keys(slideMetrics).filter((name) => name !== 'check_left_panel'))(
    '%s: a result that is missing or broken is 0',
    async (metric) => {
      const takesDeck = ['compare_pptx_files', 'check_image_stretch_and_center'].includes(metric);
      const expected = takesDeck ? LIBRARY : { ...RULES, ...INDICES };
      const broken: Changed = metric.match(/console|saving|locale/)
        ? { file: 'settings.xcu', edits: [['', '<item', '<']] }
        : library(ARCHIVE);
      expect(await scoreOf({ metric, result: broken, expected, options: {} })).toBe(0);
      const options = new Fields('options', 't1', {});
      const missing = { result: null, expected, options, name: metric, where: 't1' };
      if (!takesDeck) expect(await slideMetrics[metric]!(missing)).toBe(0);
    },
  );

  it.each<[string, Changed]>([
    ['is no archive', library(ARCHIVE)],
    ['has a background that OSWorld cannot read', library([SLIDE1, '<p:cSld>', `<p:cSld>${THEME}`])],
    ['has a colour that is none', library([SLIDE1, 'val="C00000"', 'val="red"'])],
  ])('compare_pptx_files: an expected file that %s is an error of the task', async (_what, expected) => {
    const error = await score('compare_pptx_files', LIBRARY, expected).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DartError);
    expect((error as DartError).where).toBe('t1');
    expect((error as DartError).message).toContain('the expected file library.pptx cannot be used');
  });

  it('check_image_stretch_and_center: an expected file without a picture is an error of the task', async () => {
    const bare = library([SLIDE1, '<p:pic>', '<p:none>'], [SLIDE1, '</p:pic>', '</p:none>']);
    const compared = score('check_image_stretch_and_center', LIBRARY, bare);
    await expect(compared).rejects.toThrow(
      'the expected file library.pptx cannot be used: its first slide has no picture',
    );
  });

  it('compare_pptx_files: the same in the result is a 0', async () => {
    const themed = library([SLIDE1, '<p:cSld>', `<p:cSld>${THEME}`]);
    expect(await score('compare_pptx_files', themed, LIBRARY)).toBe(0);
  });

  it.each<[string, object]>([
    ['evaluate_presentation_fill_to_rgb_distance', { rgb: 'blue' }],
    ['check_transition', { slide_idx: 0 }],
    ['check_auto_saving_time', {}],
    ['check_strikethrough', {}],
  ])('%s: rules that make no sense are an error of the task', async (metric, rules) => {
    await expect(scoreOf({ metric, result: LIBRARY, expected: rules, options: {} })).rejects.toThrow(DartError);
  });
});

describe('the strict protocol', () => {
  it.each<[string, [string, string, string][], number, number]>([
    ['a double underline where none is said', [[SLIDE1, ' i="1"', ' i="1" u="dbl"']], 1, 0],
    [
      'the text of a cell on a slide with an empty text',
      [
        [SLIDE3, '<a:t>Cod<', '<a:t>Code<'],
        [SLIDE3, '<a:t>Catch</a:t></a:r>', '<a:t>Catch</a:t></a:r><a:r><a:t/></a:r>'],
      ],
      0,
      0,
    ],
    ['a background of the theme', [[SLIDE1, '<p:cSld>', `<p:cSld>${THEME}`]], 0, 1],
    ['notes without a place for text', [['ppt/notesSlides/notesSlide1.xml', 'type="body"', 'type="obj"']], 0, 0],
  ])('compare_pptx_files: %s', async (_what, edits, verified, strict) => {
    expect(await score('compare_pptx_files', library(...edits), LIBRARY)).toBe(verified);
    expect(await strictly('compare_pptx_files', library(...edits), LIBRARY)).toBe(strict);
  });

  it('compares the text of cells, and their looks as the options say', async () => {
    const cell = library([SLIDE3, '<a:t>Cod<', '<a:t>Code<']);
    const blind = { examine_bullets: false };
    expect(await score('compare_pptx_files', cell, LIBRARY, blind)).toBe(1);
    expect(await strictly('compare_pptx_files', cell, LIBRARY, blind)).toBe(0);
    const bold = library([SLIDE3, '<a:r><a:t>Cod', '<a:r><a:rPr b="1"/><a:t>Cod']);
    expect(await score('compare_pptx_files', bold, LIBRARY, { examine_font_bold: false })).toBe(0);
    expect(await strictly('compare_pptx_files', bold, LIBRARY, { examine_font_bold: false })).toBe(1);
  });

  it('compares bullets where a text is empty', async () => {
    const empty: [string, string, string] = [
      SLIDE2,
      '<a:t>Third</a:t></a:r>',
      '<a:t>Third</a:t></a:r><a:r><a:t/></a:r>',
    ];
    const gone = library([SLIDE2, '<a:buChar char="•"/>', ''], empty);
    expect(await score('compare_pptx_files', gone, library(empty))).toBe(1);
    expect(await strictly('compare_pptx_files', gone, library(empty))).toBe(0);
  });

  it('knows the colours of page numbers, and those alone', async () => {
    const dress: Changed = { file: 'dress.pptx' };
    const impress: Changed = { file: 'impress.pptx' };
    expect(await score('check_page_number_colors', impress, { color: 'yellow' })).toBe(1);
    await expect(strictly('check_page_number_colors', impress, { color: 'yellow' })).rejects.toThrow(
      'one of red, green',
    );
    expect(await strictly('check_page_number_colors', dress, { color: 'red' })).toBe(1);
    expect(await strictly('check_page_number_colors', impress, { color: 'red' })).toBe(0);
    // Red of another text of the master is not the number's.
    const look = '<a:rPr><a:solidFill><a:srgbClr val="FF0000"/></a:solidFill></a:rPr>';
    const sign = `<p:sp><p:txBody><a:p><a:r>${look}<a:t>Draft</a:t></a:r></a:p></p:txBody></p:sp>`;
    const edit: [string, string, string] = ['ppt/slideMasters/slideMaster1.xml', '</p:spTree>', `${sign}</p:spTree>`];
    expect(await score('check_page_number_colors', { ...impress, edits: [edit] }, { color: 'red' })).toBe(1);
    expect(await strictly('check_page_number_colors', { ...impress, edits: [edit] }, { color: 'red' })).toBe(0);
  });

  it('takes no strike for none, and slides in their order', async () => {
    const rules = { slide_index_s: [3], shape_index_s: [3], paragraph_index_s: [0] };
    const unstruck = library([SLIDE4, 'sngStrike', 'noStrike']);
    expect(await score('check_strikethrough', unstruck, rules)).toBe(1);
    expect(await strictly('check_strikethrough', unstruck, rules)).toBe(0);
    const first: [string, string, string] = [
      'ppt/_rels/presentation.xml.rels',
      'slides/slide1.xml',
      'slides/slideX.xml',
    ];
    const swapped: Changed = {
      file: 'dress.pptx',
      edits: [
        first,
        [first[0], 'slides/slide2.xml', 'slides/slide1.xml'],
        [first[0], 'slides/slideX.xml', 'slides/slide2.xml'],
      ],
    };
    const dissolve = { slide_idx: 1, transition_type: 'dissolve' };
    expect(await score('check_transition', swapped, dissolve)).toBe(0);
    expect(await strictly('check_transition', swapped, dissolve)).toBe(1);
  });
});

function place(x: number, y: number, cx: number, cy: number): string {
  return `<p:spPr><a:xfrm><a:off x="${x}" y="${y}"/><a:ext cx="${cx}" cy="${cy}"/></a:xfrm></p:spPr>`;
}
