/** DART's saved conversation, brought to one form: what was shown and what was answered, in order. */
export type Turn =
  | { kind: 'image'; source: ImageSource }
  | { kind: 'reply'; text: string }
  /** Text of the user's or the system's. */
  | { kind: 'text'; text: string };

export type ImageSource = { file: string } | { png: Buffer } | { refused: string };

interface Message {
  role: string;
  content: unknown;
}

const INSTRUCTION_MARK = '## User Instruction';
const DATA_URL = /^data:image\/[a-z+.-]+;base64,/i;

/** True for a list of chat messages; DART's folders hold other JSON too. */
export function isMessages(json: unknown): json is Message[] {
  return (
    Array.isArray(json) &&
    json.length > 0 &&
    json.every((item) => typeof item === 'object' && item !== null && typeof item.role === 'string') &&
    json.some((item) => item.role === 'assistant')
  );
}

/** The turns of a conversation. An assistant's message is one reply, however many parts it has. */
export function turnsOf(messages: readonly Message[]): Turn[] {
  return messages.flatMap(({ role, content }): Turn[] => {
    const parts = Array.isArray(content) ? content : [content];
    if (role === 'assistant') return [{ kind: 'reply', text: parts.map(textOf).join('') }];
    return parts.flatMap((part): Turn[] => {
      const source = imageOf(part);
      if (source !== null) return [{ kind: 'image', source }];
      const text = textOf(part);
      return text === '' ? [] : [{ kind: 'text', text }];
    });
  });
}

/** What follows `## User Instruction` in the first text that has it; null where none has. */
export function instructionOf(turns: readonly Turn[]): string | null {
  for (const turn of turns) {
    if (turn.kind !== 'text') continue;
    const at = turn.text.lastIndexOf(INSTRUCTION_MARK);
    const instruction = at < 0 ? '' : turn.text.slice(at + INSTRUCTION_MARK.length).trim();
    if (instruction !== '') return instruction;
  }
  return null;
}

function textOf(part: unknown): string {
  if (typeof part === 'string') return part;
  const text = (part as { text?: unknown } | null)?.text;
  return typeof text === 'string' ? text : '';
}

/** `{type: 'image_url', image_url: 'image_0001.png' | {url: …}}`, or Qwen's `{type: 'image', image: …}`; null for text. */
function imageOf(part: unknown): ImageSource | null {
  if (typeof part !== 'object' || part === null) return null;
  const { type, image_url: url, image } = part as Record<string, unknown>;
  if (type !== 'image_url' && type !== 'image') return null;
  const value = type === 'image' ? image : url;
  const text = typeof value === 'object' && value !== null ? (value as { url?: unknown }).url : value;
  if (typeof text !== 'string' || text === '') return { refused: 'the message names no image' };
  const data = DATA_URL.exec(text);
  if (data) return { png: Buffer.from(text.slice(data[0].length), 'base64') };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { refused: 'it is not a file but an address' };
  return { file: text };
}
