import { encode } from 'fast-png';
import { encodeReply } from '../../lib/policy/network/vocabulary.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { makeSample, makeStep } from '../../lib/stream/records.testing.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';

export const REPLIES = ["Action: click(start_box='(52,36)')", 'Action: wait()', "Action: hotkey(key='ctrl s')"];

/** Puts a grey screen into a blob folder. @returns its sha256. */
export function greyScreen(blobs: string): string {
  const data = new Uint8Array(160 * 120 * 3).fill(90);
  return new BlobStore(blobs).putSync(encode({ width: 160, height: 120, channels: 3, data }));
}

/** A group of three replies without token ids, the first of which won. */
export function makeGroup(id: string, screenshot: string): AnyRecord[] {
  return REPLIES.map((text, i) =>
    makeSample({
      group_id: id,
      group_steps: REPLIES.length,
      trajectory_id: `${id}.${i}`,
      advantage: i === 0 ? 1.1 : -0.6,
      entropy: i + 1,
      step: makeStep(0, { text }, screenshot),
    }),
  );
}

export const lines = (records: readonly AnyRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

export function groupLines(groups: number, screenshot: string): string {
  return lines(Array.from({ length: groups }, (_, g) => makeGroup(`g${g}`, screenshot)).flat());
}

/** The same with the tokens that the embedded policy has for the replies, each of them scored. */
export function scoredLines(groups: number, screenshot: string): string {
  const scored = (text: string, i: number) => {
    const token_ids = encodeReply(text)!;
    return makeStep(0, { text, token_ids, logprobs: token_ids.map(() => -1 - i) }, screenshot);
  };
  const group = (id: string) =>
    makeGroup(id, screenshot).map((sample, i) => ({ ...sample, step: scored(REPLIES[i]!, i) }));
  return lines(Array.from({ length: groups }, (_, g) => group(`g${g}`)).flat());
}
