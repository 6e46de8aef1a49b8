import type { Frame } from '../../guest/guest.ts';
import type { Coordinates, PolicyRequest } from '../policy.ts';

/** How many of the newest screens and replies a prompt holds (design §6). */
export const MAX_SCREENSHOTS = 5;
export const MAX_REPLIES = 35;

export interface TextPart {
  type: 'text';
  text: string;
}
export interface ImagePart {
  type: 'image_url';
  image_url: { url: string };
}
/** A conversation whose pictures are of some kind of their own. */
export type Turn<Picture> =
  | { role: 'system'; content: string }
  | { role: 'user'; content: (TextPart | Picture)[] }
  | { role: 'assistant'; content: string };
export type Message = Turn<ImagePart>;

/** What stands before the instruction, and how it is found again in a conversation. */
export const INSTRUCTION_MARK = 'Task: ';

/**
 * The conversation that a request becomes, in UI-TARS's layout: what can be done, the instruction, then replies in order,
 * each after the screen that it answered, the present screen last. Of screens only the newest are kept, of replies more:
 * a reply whose screen is gone stands alone, a screen whose reply is gone goes with it, so that no screen is ever taken
 * for that of another reply (bytedance/UI-TARS #225). System text and instruction always stay.
 * @param picture What stands for a screen: the trainer writes the same conversation with names of files.
 */
export function conversationOf<Screen, Picture>(
  request: { instruction: string; history: readonly string[]; frames: readonly Screen[] },
  coordinates: Coordinates,
  picture: (screen: Screen) => Picture,
): Turn<Picture>[] {
  const replies = request.history.slice(-MAX_REPLIES);
  const frames = request.frames.slice(-MAX_SCREENSHOTS).slice(-(replies.length + 1));
  const present = frames.at(-1);
  // The screen of replies[i] is frames[i - alone].
  const alone = replies.length - (frames.length - 1);
  const shown = (frame: Screen): Turn<Picture> => ({ role: 'user', content: [picture(frame)] });
  const turns = replies.flatMap((reply, index): Turn<Picture>[] => {
    const answer: Turn<Picture> = { role: 'assistant', content: reply };
    return index < alone ? [answer] : [shown(frames[index - alone]!), answer];
  });
  return [
    { role: 'system', content: systemText(coordinates) },
    { role: 'user', content: [{ type: 'text', text: INSTRUCTION_MARK + request.instruction }] },
    ...turns,
    ...(present !== undefined ? [shown(present)] : []),
  ];
}

/** The conversation of a request as a server gets it: each screen as PNG in a data URI. */
export function promptOf(
  request: Pick<PolicyRequest, 'instruction' | 'frames' | 'history'>,
  coordinates: Coordinates,
): Message[] {
  return conversationOf(request, coordinates, (frame) => ({ type: 'image_url', image_url: { url: dataUri(frame) } }));
}

/** A screen is sent with up to five requests: its text is made once. */
const uris = new WeakMap<Frame, string>();

function dataUri(frame: Frame): string {
  const known = uris.get(frame);
  if (known !== undefined) return known;
  const uri = `data:image/png;base64,${Buffer.from(frame.png()).toString('base64')}`;
  uris.set(frame, uri);
  return uri;
}

const PLACES: Readonly<Record<Coordinates, string>> = {
  absolute: 'x and y are pixels of the screenshot, counted from its upper left corner.',
  relative: 'x and y run from 0 to 1000 over the width and the height of the screenshot.',
  'smart-resize': 'x and y are pixels of the screenshot as you see it, counted from its upper left corner.',
};

/** What a policy is told first: the form of a reply and the verbs of UI-TARS, in words of our own. */
export function systemText(coordinates: Coordinates): string {
  return `You operate a computer. You are given a task, your earlier replies and screenshots; the last screenshot is the present one. Choose the next action.

Answer in this form:
Thought: what you see, and what you do about it, in a sentence or two
Action: one of the actions below

Actions:
click(start_box='<|box_start|>(x,y)<|box_end|>')
left_double(start_box='<|box_start|>(x,y)<|box_end|>')
right_single(start_box='<|box_start|>(x,y)<|box_end|>')
drag(start_box='<|box_start|>(x,y)<|box_end|>', end_box='<|box_start|>(x,y)<|box_end|>')
hotkey(key='ctrl c') - keys in lower case, a space between them, at most three
type(content='text') - a line break at the end, written \\n, presses Enter; \\', \\" and \\n are escapes
scroll(start_box='<|box_start|>(x,y)<|box_end|>', direction='down') - or up, left, right
wait() - look again in a few seconds
finished(content='what was done') - the task is done
call_user() - the task cannot be done

${PLACES[coordinates]}`;
}
