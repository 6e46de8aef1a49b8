import type { FetchedFile } from '../context.ts';
import { IMAGES, type Row } from './image_rows.testing.ts';

/** A file of this text. */
export const file = (text: string): FetchedFile => ({ name: 'f', bytes: Buffer.from(text, 'utf8') });

const TEXT: Row[] = [
  ['exact_match', 'true', { expected: 'true' }, {}, 1],
  ['exact_match', 'true\n', { expected: 'true' }, {}, 0],
  ['exact_match', null, { expected: 'true' }, {}, 0],
  ['exact_match', { a: [1, 2] }, { expected: { a: [1, 2] } }, {}, 1],
  ['match_in_list', 'Bing', { expected: ['Microsoft Bing', 'Bing'] }, {}, 1],
  ['match_in_list', 'Google', { expected: ['Microsoft Bing', 'Bing'] }, {}, 0],
  ['is_in_list', ['/a', '/b'], { expected: '/b' }, {}, 1],
  ['is_in_list', ['/a'], { expected: '/b' }, {}, 0],
  ['literal_match', 5, '5', {}, 1],
  ['literal_match', 'Ann', 'ann', {}, 0],
  ['literal_match', 'Ann', 'ann', { ignore_case: true }, 1],
  ['literal_match', ['A', 1], ['a', '1'], { type: 'list', ignore_case: true }, 1],
  ['literal_match', ['A'], ['A', 'B'], { type: 'list' }, 0],
  // LCS of "abcd" and "abxd" is 3: 2 * 3 / 8.
  ['fuzzy_match', 'abcd', { expected: 'abxd' }, {}, 0.75],
  ['fuzzy_match', 'abc', { expected: 'abc' }, {}, 1],
  ['check_include_exclude', 'one two', { include: ['one', 'two'], exclude: ['three'] }, {}, 1],
  ['check_include_exclude', 'one two', { include: ['one'], exclude: ['two'] }, {}, 0],
  ['check_include_exclude', 'one', { include: ['one', 'two'] }, {}, 0],
  ['check_include_exclude', null, { include: [] }, {}, 0],
  ['is_utc_0', 'Local time: x\n  Time zone: UTC (UTC, +0000)\n', undefined, {}, 1],
  ['is_utc_0', '  Time zone: Asia/Hong_Kong (HKT, +0800)\n', undefined, {}, 0],
  ['check_gnome_favorite_apps', "['b', 'a']\n", { expected: ['a', 'b'] }, {}, 1],
  ['check_gnome_favorite_apps', "['a', 'b', 'c']\n", { expected: ['a', 'b'] }, {}, 0],
  ['is_extension_installed', 'x.y\na.b\n', { type: 'contain', expected: 'a.b' }, {}, 1],
  ['is_extension_installed', 'x.y\n', { type: 'contain', expected: 'a.b' }, {}, 0],
  ['is_extension_installed', 'x.y\n', { type: 'not_contain', expected: 'a.b' }, {}, 1],
];

const FILES: Row[] = [
  ['compare_text_file', file('a b\n'), file('a b\n'), {}, 1],
  ['compare_text_file', file('a\r\n'), file('a\n'), {}, 1],
  ['compare_text_file', file(' a\t\tB\n'), file('a b'), {}, 0],
  ['compare_text_file', file(' a\t\tB\n'), file('a B'), { ignore_blanks: true }, 1],
  ['compare_text_file', file('A'), file('a'), { ignore_case: true }, 1],
  ['compare_text_file', null, file('a'), {}, 0],
  ['compare_csv', file('a,b\n1,2\n'), file('a,b\n1,2'), {}, 1],
  ['compare_csv', file('a,b\n1,3\n'), [file('x'), file('a,b\n1,3\n')], {}, 1],
  ['compare_csv', file('a,b \n'), file('a,b\n'), {}, 0],
  ['compare_csv', file('a,b \n'), file('a,b\n'), { strict: false }, 1],
  ['file_contains', file('Ping: 3 Upload: 4'), { expected: ['Ping', 'Upload'] }, {}, 1],
  ['file_contains', file('Ping: 3'), { expected: ['Ping', 'Upload'] }, {}, 0],
  ['check_list', file('one 1\ntwo 2\n'), { expect: ['^two \\d$', 'one'] }, {}, 1],
  ['check_list', file('one 1\ntwo 2\n'), { expect: ['one'], unexpect: ['two'] }, {}, 0],
  ['check_list', file(''), { unexpect: ['.+'] }, {}, 1],
  ['check_csv', file('url,user\na,"b, c"\n'), { expect: [{ url: 'a', user: 'b, c' }] }, {}, 1],
  ['check_csv', file('url,user\na,b\n'), { unexpect: [{ user: 'b' }] }, {}, 0],
  ['check_csv', file('url,user\n'), { unexpect: [{ user: 'b' }] }, {}, 1],
];

const JSON_ROWS: Row[] = [
  ['check_json', file('{"a":{"b":[1,2]}}'), { expect: [{ key: ['a', 'b'], method: 'eq', ref: [1, 2] }] }, {}, 1],
  ['check_json', file('{"a":{"b":[1,2]}}'), { expect: [{ key: ['a', 'c'], method: 'eq', ref: 1 }] }, {}, 0],
  ['check_json', file('{"a":"smart x"}'), { expect: [{ key: ['a'], method: 're', ref: '\\bsmart\\b' }] }, {}, 1],
  ['check_json', file('{"a":1}'), { unexpect: [{ key: ['a'], method: 'eq', ref: 1 }] }, {}, 0],
  ['check_json', file('{"a":1}'), { unexpect: [{ key: ['b'], method: 'eq', ref: 1 }] }, {}, 1],
  ['check_json', file('{broken'), { expect: [] }, {}, 0],
  ['check_json_settings', file('{"x":1,"y":"on"}'), { expected: { y: 'on' } }, {}, 1],
  ['check_json_settings', file('{"x":1}'), { expected: { y: 'on' } }, {}, 0],
  ['check_json_settings', null, { expected: {} }, {}, 0],
  ['check_json_keybindings', file('// c\n[{"key":"ctrl+j"}]'), { expected: { key: 'ctrl+j' } }, {}, 1],
  ['check_json_keybindings', file('[{"key":"ctrl+k"}]'), { expected: { key: 'ctrl+j' } }, {}, 0],
  ['compare_config', file('project'), { expected: 'project' }, {}, 1],
  ['compare_config', file('{"a":1,"b":2}'), { expected: '{"a": 1}\n' }, { containment_ok: false }, 0],
  ['compare_config', file('{"a":1,"b":2}'), { expected: '{"a": 1}\n' }, {}, 1],
  ['check_direct_json_object', { a: '1', b: 2 }, { expected: { a: '1' } }, {}, 1],
  ['check_direct_json_object', " {'a': 'x'} ", { expected: { a: 'x' } }, {}, 1],
  ['check_direct_json_object', { a: '1' }, { expected: { a: '2' } }, {}, 0],
  ['check_direct_json_object', { a: 'xyz' }, { expect_in_result: true, expected: { a: 'y' } }, {}, 1],
  ['check_direct_json_object', { a: ['p', 'q'] }, { expect_in_result: true, expected: { a: ['z', 'q'] } }, {}, 1],
  ['check_direct_json_object', { a: 'pq' }, { expect_in_result: true, expected: { a: ['z'] } }, {}, 0],
  ['check_direct_json_object', null, { expected: { a: 1 } }, {}, 0],
];

const bar = (...children: object[]) => ({ bookmark_bar: { children } });
const link = (url: string) => ({ type: 'url', name: 'x', url });

const BROWSER: Row[] = [
  ['is_expected_active_tab', 'https://www.a.com/', { type: 'url', url: 'https://a.com' }, {}, 1],
  ['is_expected_active_tab', { url: 'https://a.test/b' }, { type: 'url', url: 'https://a.test' }, {}, 0],
  ['is_expected_active_tab', null, { type: 'url', url: 'https://a.test' }, {}, 0],
  ['is_expected_active_tab_approximate', 'https://a.test/b?q=1', { type: 'url', url: 'https://a.test/b?r=2' }, {}, 1],
  ['is_expected_active_tab_approximate', 'https://a.test/c?q=1', { type: 'url', url: 'https://a.test/b' }, {}, 0],
  [
    'is_expected_tabs',
    [{ url: 'https://a.test' }, { url: 'https://b.com/' }],
    { type: 'url', urls: ['https://b.org', 'https://a.test/'] },
    {},
    1,
  ],
  ['is_expected_tabs', [{ url: 'https://a.test' }], { type: 'url', urls: ['https://a.test', 'https://b.test'] }, {}, 0],
  ['is_expected_tabs', [], { type: 'url', urls: [] }, {}, 0],
  ['is_expected_url_pattern_match', 'https://a.test/x?n=3', { expected: ['n=\\d', 'a\\.test'] }, {}, 1],
  ['is_expected_url_pattern_match', 'https://a.test/x', { expected: ['n=\\d'] }, {}, 0],
  ['is_expected_search_query', { url: 'https://a.test/?q=cat' }, { expect: { pattern: 'q=c.t' } }, {}, 1],
  ['is_expected_bookmarks', bar(link('u'), link('v')), { type: 'bookmark_bar_websites_urls', urls: ['v', 'u'] }, {}, 1],
  ['is_expected_bookmarks', bar(link('u'), link('v')), { type: 'bookmark_bar_websites_urls', urls: ['u'] }, {}, 0],
  [
    'is_expected_bookmarks',
    bar({ type: 'folder', name: 'F' }),
    { type: 'bookmark_bar_folders_names', names: ['F'] },
    {},
    1,
  ],
  [
    'is_expected_bookmarks',
    bar({ type: 'folder', name: 'Liked Authors', children: [link('a2'), link('b1')] }),
    { type: 'liked_authors_websites_urls', urls: [['a1', 'a2'], 'b1'] },
    {},
    1,
  ],
  [
    'is_expected_bookmarks',
    bar({ type: 'folder', name: 'Liked Authors', children: [link('a2')] }),
    { type: 'liked_authors_websites_urls', urls: [['a1', 'a2'], 'b1'] },
    {},
    0,
  ],
  ['is_expected_bookmarks', [], { type: 'bookmark_bar_folders_names', names: [] }, {}, 0],
  ['check_history_deleted', [['https://a.test', 'a']], { type: 'keywords', keywords: ['youtube'] }, {}, 1],
  ['check_history_deleted', [['https://youtube.test', 'a']], { type: 'keywords', keywords: ['youtube'] }, {}, 0],
  ['check_font_size', { default_font_size: 20 }, { type: 'value', value: 20 }, {}, 1],
  ['check_font_size', { default_font_size: 16 }, { type: 'range', min: 16, max: 99 }, {}, 0],
];

const PREFS = file('// c\nuser_pref("a.b", true);\nuser_pref("sig", "Anonym\\nXYZ Lab");\nuser_pref("n", 3);\n');
/** One filter of Thunderbird. */
export const FILTER = file(
  'version="9"\nname="n"\nenabled="yes"\naction="Forward"\nactionValue="x@y"\ncondition="AND (subject,contains,discount)"\n',
);
const MBOX = file(
  'From - \nX-Mozilla-Status: 0005\nFrom: ann@mail.test\nTo: user@mail.test\nSubject: lunch\n\nhi\n\n' +
    'From - \nX-Mozilla-Status: 0000\nFrom: bob@mail.test\nTo: user@mail.test\nSubject: bill\n\npay\n\n',
);
/** What VLC says of itself while it plays. */
export const STATUS = file(
  '<root><state>playing</state><information><category name="meta"><info name="filename">a &amp; b.mp3</info></category></information></root>',
);

const APPS: Row[] = [
  ['check_thunderbird_prefs', PREFS, { expect: { 'a.b': { method: 'eq', ref: true } } }, {}, 1],
  ['check_thunderbird_prefs', PREFS, { expect: { sig: { method: 're.S', ref: 'Anonym\nXYZ Lab' } } }, {}, 1],
  ['check_thunderbird_prefs', PREFS, { expect: { none: { method: 'eq', ref: 1 } } }, {}, 0],
  ['check_thunderbird_prefs', PREFS, { unexpect: { n: { method: 'ge', ref: 3 } } }, {}, 0],
  [
    'check_thunderbird_filter',
    FILTER,
    { expect: [{ enabled: 'yes', action: 'Forward', condition: ['AND (subject,contains,discount)'] }] },
    {},
    1,
  ],
  ['check_thunderbird_filter', FILTER, { expect: [{ enabled: 'no' }] }, {}, 0],
  ['check_mailbox', MBOX, { expect: [{ from: 'ann', starred: true, read: true }], count: 2 }, {}, 1],
  ['check_mailbox', MBOX, { expect: [{ from: 'bob', starred: true }] }, {}, 0],
  ['check_mailbox', MBOX, { unexpect: [{ subject: 'bill', body: 'pay', read: false }] }, {}, 0],
  ['check_mailbox', MBOX, { count: 1 }, {}, 0],
  ['check_mailbox', null, { unexpect: [{ from: 'ann' }], count: 0 }, {}, 1],
  ['is_vlc_playing', STATUS, { type: 'file_name', file_name: 'a & b.mp3' }, {}, 1],
  ['is_vlc_playing', STATUS, { type: 'file_name', file_name: 'c.mp3' }, {}, 0],
  [
    'is_vlc_playing',
    file('<state>paused</state><info name="filename">c.mp3</info>'),
    { type: 'file_name', file_name: 'c.mp3' },
    {},
    0,
  ],
  [
    'is_vlc_playing',
    file('<state>playing</state><category name="meta"><info name="url">http://a/b.m3u8</info></category>'),
    { type: 'url', url: 'http://a/b.m3u8' },
    {},
    1,
  ],
  ['check_qt_minimal_view', file('#x\nqt-minimal-view=1\n'), { expected_qt_minimal_view: 1 }, {}, 1],
  // OSWorld takes a setting that is commented out for one.
  ['check_qt_minimal_view', file('#qt-minimal-view=0\n'), { expected_qt_minimal_view: 1 }, {}, 0],
  ['check_qt_bgcone', file(''), { expected_qt_bgcone: 0 }, {}, 0],
  ['check_play_and_exit', file('play-and-exit=1\n'), { expected_play_and_exit: 1 }, {}, 1],
  [
    'check_one_instance_when_started_from_file',
    file('one-instance-when-started-from-file=0\n'),
    { expected_one_instance_when_started_from_file: 0 },
    {},
    1,
  ],
  [
    'is_vlc_recordings_folder',
    file('input-record-path=/home/user/Desktop\n'),
    { recording_file_path: '/home/user/Desktop' },
    {},
    1,
  ],
  ['check_config_status', file('# c\n(theme "Light")\n'), { key: 'theme', value: '"Light"' }, {}, 1],
  ['check_config_status', file('# (theme "Light")\n(theme "Dark")\n'), { key: 'theme', value: '"Light"' }, {}, 0],
  ['infeasible', undefined, undefined, {}, 0],
];

/** Scores that a person can check, for metrics on what can be written down. */
export const ROWS: readonly Row[] = [...TEXT, ...FILES, ...JSON_ROWS, ...BROWSER, ...APPS, ...IMAGES];
