import { describe, expect, it } from 'vitest';
import type { DartError } from '../../errors.ts';
import { Fields } from '../fields.ts';
import { png } from './image_rows.testing.ts';
import { METRICS } from './index.ts';
import { FILTER, file, ROWS, STATUS } from './rows.testing.ts';

function score(name: string, result: unknown, expected?: unknown, options: object = {}) {
  const metric = METRICS.get(name);
  if (metric === undefined) throw new Error(`no metric ${name}`);
  return metric({ result, expected, options: new Fields('options', 't1', options), name, where: 't1' });
}

describe('metrics', () => {
  it.each(ROWS.map((row, index) => [`${row[0]} ${index}`, row] as const))('%s', async (_title, row) => {
    const [name, result, expected, options, wanted] = row;
    expect(await score(name, result, expected, options)).toBeCloseTo(wanted, 12);
  });

  it.each([
    ['exact_match', 'x', undefined, 'metric exact_match needs rules, but the task has none'],
    ['compare_text_file', file('a'), null, 'metric compare_text_file needs an expected file, but the task gives none'],
    ['file_contains', 'text', { expected: [] }, 'metric file_contains needs a file as its result'],
    [
      'check_include_exclude',
      'x',
      { include: 3 },
      'rules of check_include_exclude: include should be a list of strings, but is 3',
    ],
    [
      'is_vlc_playing',
      STATUS,
      { type: 'tune' },
      'rules of is_vlc_playing: type should be "file_name" or "url", but is "tune"',
    ],
    ['is_expected_active_tab', null, { type: 'url' }, 'url should be a string, but is missing'],
    ['is_expected_active_tab_approximate', null, {}, 'type should be a string, but is missing'],
    ['is_expected_tabs', [], { type: 'url' }, 'urls should be a list of strings, but is missing'],
    ['is_expected_url_pattern_match', null, {}, 'expected should be a list of strings, but is missing'],
    ['is_expected_search_query', null, {}, 'expect should be an object, but is missing'],
    ['is_expected_bookmarks', null, {}, 'type should be a string, but is missing'],
    ['check_config_status', null, { key: 'a' }, 'value should be a string, but is missing'],
    ['literal_match', 'x', {}, 'metric literal_match needs a value to compare with'],
    ['check_mailbox', null, { expct: [] }, 'have neither expect nor unexpect nor count'],
    ['check_image_size', png(), { widht: 3 }, 'have neither width nor height'],
    ['file_contains', null, {}, 'expected should be a list of strings, but is missing'],
    ['check_json_settings', null, {}, 'expected should be an object, but is missing'],
    ['check_json_keybindings', null, {}, 'expected should be an object, but is missing'],
    ['check_direct_json_object', null, {}, 'expected should be an object, but is missing'],
    ['check_thunderbird_prefs', null, {}, 'have neither expect nor unexpect'],
    ['check_accessibility_tree', '<a/>', [], 'there should be a rule'],
    ['check_mp3_meta', null, {}, 'a tag should be there'],
    ['check_include_exclude', 'x', [1, 2], 'rules of check_include_exclude should be an object, but are a list'],
    ['check_include_exclude', 'x', { includ: ['y'] }, 'have neither include nor exclude'],
    ['check_include_exclude', null, {}, 'have neither include nor exclude'],
    ['check_json', file('{}'), [], 'rules of check_json should be an object, but are a list'],
    ['check_json', file('{}'), { expected: [] }, 'have neither expect nor unexpect'],
    ['check_list', null, {}, 'have neither expect nor unexpect'],
    ['check_csv', null, {}, 'have neither expect nor unexpect'],
    ['check_thunderbird_filter', null, {}, 'have neither expect nor unexpect'],
    ['compare_images', file('no picture'), file('none either'), 'expected picture'],
    ['check_structure_sim', null, file('none'), 'expected picture'],
    ['compare_zip_files', file('no archive'), file('none either'), 'cannot be read'],
    ['exact_match', 'x', { expect: 'x' }, 'expected should be there, but is missing'],
    ['match_in_list', 'x', { expected: 3 }, 'expected should be a list, but is 3'],
    ['is_in_list', ['x'], {}, 'expected should be there, but is missing'],
    ['literal_match', 'x', undefined, 'metric literal_match needs a value to compare with'],
    ['check_qt_bgcone', file('qt-bgcone=0'), { qt_bgcone: 0 }, 'expected_qt_bgcone should be there, but is missing'],
    ['is_expected_search_query', 'https://a.test/', { expect: {} }, 'pattern should be a string, but is missing'],
    ['check_csv', file('a\n1\n'), { expect: ['a'] }, 'expect should be a list of objects, but is ["a"]'],
    ['check_thunderbird_filter', FILTER, { unexpect: [3] }, 'unexpect should be a list of objects, but is [3]'],
    ['check_json', file('{"a":1}'), { expect: [{ key: ['a'], method: 'in', ref: 1 }] }, 'ref should be a list'],
    ['check_json', file('{"a":1}'), { expect: [{ key: ['a'], method: 'eq' }] }, 'ref should be there, but is missing'],
    ['check_accessibility_tree', '<a/>', [{ xpath: 'count(//a)' }], 'xpath should be a path that finds nodes'],
    ['compare_time_in_speedtest_results', file('t\n1,10:20\n'), 'soon', 'minutes should be a number, but is "soon"'],
    [
      'check_json',
      file('{"a":1}'),
      { expect: [{ key: ['a'], method: 'like', ref: 1 }] },
      'check_json: unknown method like',
    ],
    [
      'check_image_mirror',
      png(),
      file('no png'),
      'metric check_image_mirror: expected picture f cannot be read: Input buffer contains unsupported image format',
    ],
  ])('%s: trouble with the task is an error, not a 0', async (name, result, expected, message) => {
    const error = await Promise.resolve()
      .then(() => score(name, result, expected))
      .catch((thrown: DartError) => thrown);
    expect((error as DartError).message).toContain(message);
    expect((error as DartError).where).toBe('t1');
  });

  it('compare_table: a broken expected book is an error beside a broken result, too', async () => {
    const rules = [{ type: 'sheet_data', sheet_idx0: 0, sheet_idx1: 'EI0' }];
    const scored = async () => score('compare_table', file('no book'), file('none either'), { rules });
    await expect(scored()).rejects.toThrow('the expected file f cannot be compared');
  });
});
