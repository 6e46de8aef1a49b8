import type { Metric } from '../../kinds.ts';
import { matchesRule } from '../../rules.ts';
import { resultFile, rulesOf } from '../input.ts';
import { ofAgent } from './both.ts';

/** Frames of ID3v2 by the names that tasks give them (mutagen's EasyID3). */
const FRAMES: Record<string, string> = {
  ...{ album: 'TALB', bpm: 'TBPM', composer: 'TCOM', copyright: 'TCOP', encodedby: 'TENC', lyricist: 'TEXT' },
  ...{ length: 'TLEN', media: 'TMED', mood: 'TMOO', grouping: 'TIT1', title: 'TIT2', version: 'TIT3' },
  ...{ artist: 'TPE1', albumartist: 'TPE2', conductor: 'TPE3', arranger: 'TPE4', discnumber: 'TPOS' },
  ...{ organization: 'TPUB', tracknumber: 'TRCK', author: 'TOLY', albumartistsort: 'TSO2', albumsort: 'TSOA' },
  ...{ composersort: 'TSOC', artistsort: 'TSOP', titlesort: 'TSOT', isrc: 'TSRC', discsubtitle: 'TSST' },
  ...{ language: 'TLAN', genre: 'TCON', date: 'TDRC' },
};

/** Rules `{tag: {method, ref}}` on the ID3 tags of an MP3 file; a tag that is not there is an empty text. */
const mp3Meta: Metric = async (input) => {
  const rules = Object.entries(rulesOf(input).values);
  if (rules.length === 0) throw rulesOf(input).wrong('a tag', 'there');
  const tags = await ofAgent(resultFile(input), readTags);
  if (tags === null) return 0;
  return Number(rules.every(([tag, rule]) => matchesRule(tags(tag), rule, input.name, input.where)));
};

async function readTags(bytes: Uint8Array): Promise<(tag: string) => string> {
  const { parseBuffer } = await import('music-metadata');
  const { native } = await parseBuffer(bytes, { mimeType: 'audio/mpeg' }, { skipCovers: true });
  const version = Object.keys(native).find((name) => name.startsWith('ID3v2')) ?? 'ID3v1';
  const found = native[version];
  if (found === undefined) throw new Error('the file has no ID3 tags');
  return (tag) => {
    const wanted = version === 'ID3v1' ? tag : FRAMES[tag];
    const values = found.filter(({ id }) => id === wanted).map(({ value }) => String(value));
    return values.join(',');
  };
}

/** Tags of music. */
export const tagMetrics: Record<string, Metric> = { check_mp3_meta: mp3Meta };
