import { DartError } from '../../errors.ts';
import type { Frame } from '../../guest/guest.ts';
import { pngFrame } from '../../guest/png_frame.ts';
import type { PolicyRequest } from '../policy.ts';
import { INSTRUCTION_MARK } from './prompt.ts';

/** One message of a request as it comes over HTTP: content is text, or parts of text and images. */
export interface WireMessage {
  role: string;
  content?: string | readonly WirePart[] | null;
}
export interface WirePart {
  type: string;
  text?: string;
  image_url?: string | { url: string };
}

export type ReadPrompt = Pick<PolicyRequest, 'instruction' | 'frames' | 'history'>;

const DATA_URI = /^data:image\/png;base64,([A-Za-z0-9+/=\s]+)$/;

/**
 * The inverse of `promptOf`: what a conversation asks. For conversations of others: the instruction is the text after
 * "Task: ", or else all that the user's first message says; the replies are the assistant's, the screens all images.
 * @throws DartError where there is no instruction or no screen, or an image that is no PNG in a data URI.
 */
export function readPrompt(messages: readonly WireMessage[]): ReadPrompt {
  const said = messages.filter(({ role }) => role === 'user').flatMap(textsOf);
  const marked = said.find((text) => text.startsWith(INSTRUCTION_MARK));
  const instruction = marked?.slice(INSTRUCTION_MARK.length) ?? said[0];
  if (instruction === undefined) throw bad('no message of the user says what to do');
  const frames = messages.flatMap(({ content }) => partsOf(content).flatMap(imageOf));
  if (frames.length === 0) throw bad('there is no screenshot in the messages');
  const replies = messages.filter(({ role }) => role === 'assistant');
  return { instruction, frames, history: replies.map((message) => textsOf(message).join('\n')) };
}

function textsOf({ content }: WireMessage): string[] {
  return partsOf(content).flatMap((part) => (part.type === 'text' && part.text !== undefined ? [part.text] : []));
}

function partsOf(content: WireMessage['content']): readonly WirePart[] {
  if (content === null || content === undefined) return [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function imageOf(part: WirePart): Frame[] {
  if (part.type !== 'image_url') return [];
  const url = typeof part.image_url === 'string' ? part.image_url : part.image_url?.url;
  const found = DATA_URI.exec(url ?? '');
  if (!found) throw bad('an image is no PNG in a data URI (data:image/png;base64,…)');
  try {
    return [pngFrame(new Uint8Array(Buffer.from(found[1]!, 'base64')), 'messages')];
  } catch (cause) {
    throw bad('an image is no PNG', cause);
  }
}

function bad(message: string, cause?: unknown): DartError {
  return new DartError(message, { where: 'messages', hint: 'the layout in docs/inference-servers.md', cause });
}
