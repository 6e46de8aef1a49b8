import type { Fidelity } from '../context.ts';
import type { Metric } from '../kinds.ts';
import { linesOf, resultText, ruleOf, rulesOf } from './input.ts';

/** Where VLC's status tells the file that plays, the first that is there; and the address. */
const FILE_INFOS = ['filename', 'title', 'uri', 'location', 'name'];
const URL_INFOS = ['url', 'URI', 'location', 'title', 'filename'];

/** VLC plays the file or the address of the rule (`{type: file_name, file_name}` or `{type: url, url}`). */
const isVlcPlaying: Metric = (input) => {
  const rules = rulesOf(input);
  const type = rules.text('type');
  if (type !== 'file_name' && type !== 'url') throw rules.wrong('type', '"file_name" or "url"');
  const wanted = rules.text(type);
  const status = resultText(input);
  if (status === null || /<state>\s*playing\s*<\/state>/.exec(status) === null) return 0;
  const info = firstInfo(status, type === 'url' ? URL_INFOS : FILE_INFOS);
  if (info === undefined) return 0;
  return Number(type === 'url' ? isAddress(info, wanted) : info.endsWith(wanted));
};

/** The text of the first of these `<info name="…">` of the category `meta` that is not empty. */
function firstInfo(status: string, names: string[]): string | undefined {
  const meta = /<category name=["']meta["']>([\s\S]*?)<\/category>/.exec(status)?.[1] ?? '';
  const infos = new Map(
    [...meta.matchAll(/<info name=["']([^"']*)["']>([^<]+)<\/info>/g)].map((match) => [
      match[1]!,
      unescapeXml(match[2]!),
    ]),
  );
  return names.map((name) => infos.get(name)).find((info) => info !== undefined);
}

/** A stream shows itself by its address, by the file at the end of it, or by an address on the same host that leads there. */
function isAddress(info: string, wanted: string): boolean {
  if (info.includes(wanted)) return true;
  const parse = (text: string) => (URL.canParse(text) ? new URL(text) : null);
  const [url, shown] = [parse(wanted), parse(info)];
  if (info === url?.pathname.split('/').at(-1)) return true;
  return url !== null && shown?.host === url.host && shown.pathname.includes(url.pathname);
}

function unescapeXml(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code ? String.fromCodePoint(Number(code)) : (entities[name] ?? whole),
  );
}

/**
 * The last `key=value` of vlcrc, which has `#` before settings that were never changed. OSWorld reads those as well;
 * `strict` does not.
 */
function vlcSetting(text: string, key: string, fidelity?: Fidelity): string | undefined {
  const isSetting = (line: string) => (fidelity === 'strict' ? line.startsWith(`${key}=`) : line.includes(`${key}=`));
  return linesOf(text).filter(isSetting).at(-1)?.split('=').at(-1)?.trim();
}

/** A metric on one vlcrc key; the rule's field holds the expected value, `fallback` is VLC's default. */
function vlcrc(key: string, field: string, fallback: string, read = (value: string) => value): Metric {
  return (input) => {
    const expected = ruleOf(input, field);
    const text = resultText(input);
    if (text === null) return 0;
    const value = vlcSetting(text, key, input.fidelity);
    const found = value === undefined ? fallback : read(value);
    return Number(found === String(typeof expected === 'boolean' ? Number(expected) : expected));
  };
}

/** `{recording_file_path}`: the first setting that is not commented out; VLC has none of itself. */
const recordings: Metric = (input) => {
  const expected = rulesOf(input).text('recording_file_path');
  const lines = linesOf(resultText(input) ?? '').filter((line) => !line.startsWith('#'));
  return Number(
    lines
      .find((line) => line.includes('input-record-path'))
      ?.split('=')
      .at(-1)
      ?.trim() === expected,
  );
};

/** Red, green and blue of VLC's volume slider, four colours. */
const SLIDER_COLOURS = '153;210;153;20;210;20;255;199;15;245;39;29';
const BLACKISH = 100;

/** `{type: match, expected_qt_slider_colours}`, or `{type: blackish}`: every level is below 100. */
const sliderColours: Metric = (input) => {
  const rules = rulesOf(input);
  const type = rules.text('type');
  if (type !== 'match' && type !== 'blackish') throw rules.wrong('type', '"match" or "blackish"');
  const text = resultText(input);
  if (text === null) return 0;
  const colours = vlcSetting(text, 'qt-slider-colours', input.fidelity) ?? SLIDER_COLOURS;
  if (type === 'match') return Number(colours === rules.text('expected_qt_slider_colours'));
  const levels = colours.split(';').map(Number);
  return Number(levels.slice(0, levels.length - (levels.length % 3)).every((level) => level < BLACKISH));
};

/** GIMP's `gimprc`: a line `(key … value)`; `key` may be a list of two words. */
const configStatus: Metric = (input) => {
  const rules = rulesOf(input);
  const keys = rules.texts('key');
  const value = rules.text('value');
  const text = resultText(input);
  if (text === null) return 0;
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
  check_qt_max_volume: vlcrc('qt-max-volume', 'expected_qt_max_volume', '125'),
  check_global_key_play_pause: vlcrc('global-key-play-pause', 'expected_global_key_play_pause', '0', (value) =>
    value === '' ? '0' : '1',
  ),
  check_qt_slider_colours: sliderColours,
  is_vlc_recordings_folder: recordings,
  check_config_status: configStatus,
};
