import type { Metric } from '../kinds.ts';
import { linesOf, resultText, rulesOf } from './input.ts';

/** VLC plays the file or the address of the rule (`{type: file_name, file_name}` or `{type: url, url}`). */
const isVlcPlaying: Metric = (input) => {
  const status = resultText(input);
  if (status === null || /<state>\s*playing\s*<\/state>/.exec(status) === null) return 0;
  const rules = rulesOf(input);
  const type = rules.text('type');
  if (type === 'file_name') {
    const wanted = rules.text('file_name');
    return Number(
      infos(status, ['filename', 'title', 'name']).some((info) => info === wanted || info.endsWith(wanted)),
    );
  }
  if (type !== 'url') throw rules.wrong('type', '"file_name" or "url"');
  const wanted = rules.text('url');
  return Number(infos(status, ['url', 'location', 'filename']).some((info) => info.includes(wanted)));
};

/** Texts of `<info name="…">` elements with one of these names. */
function infos(status: string, names: string[]): string[] {
  return [...status.matchAll(/<info name=["']([^"']*)["']>([^<]*)<\/info>/g)]
    .filter((match) => names.includes(match[1]!))
    .map((match) => unescapeXml(match[2]!));
}

function unescapeXml(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code ? String.fromCodePoint(Number(code)) : (entities[name] ?? whole),
  );
}

/** A `key=value` line of vlcrc, which has `#` before settings that were never changed. */
function vlcSetting(text: string, key: string): string | undefined {
  return linesOf(text)
    .find((line) => line.startsWith(`${key}=`))
    ?.slice(key.length + 1)
    .trim();
}

/** A metric on one vlcrc key; the rule's field holds the expected value, `fallback` is VLC's default. */
function vlcrc(key: string, field: string, fallback: string): Metric {
  return (input) => {
    const text = resultText(input);
    if (text === null) return 0;
    const expected = rulesOf(input).values[field];
    return Number(
      (vlcSetting(text, key) ?? fallback) === String(typeof expected === 'boolean' ? Number(expected) : expected),
    );
  };
}

/** GIMP's `gimprc`: a line `(key … value)`; `key` may be a list of two words. */
const configStatus: Metric = (input) => {
  const text = resultText(input);
  if (text === null) return 0;
  const rules = rulesOf(input);
  const keys = rules.texts('key');
  const value = rules.text('value');
  const holds = (line: string): boolean => {
    if (line.startsWith('#') || line.trim() === '') return false;
    const words = line.trim().replace(/^\(+/, '').replace(/\)+$/, '').split(/\s+/);
    return keys.every((key, index) => words[index] === key) && words.at(-1) === value;
  };
  return Number(linesOf(text).some(holds));
};

export const mediaMetrics: Record<string, Metric> = {
  is_vlc_playing: isVlcPlaying,
  check_qt_minimal_view: vlcrc('qt-minimal-view', 'expected_qt_minimal_view', '0'),
  check_qt_bgcone: vlcrc('qt-bgcone', 'expected_qt_bgcone', '1'),
  check_play_and_exit: vlcrc('play-and-exit', 'expected_play_and_exit', '0'),
  check_one_instance_when_started_from_file: vlcrc(
    'one-instance-when-started-from-file',
    'expected_one_instance_when_started_from_file',
    '1',
  ),
  is_vlc_recordings_folder: vlcrc('input-record-path', 'recording_file_path', ''),
  check_config_status: configStatus,
};
