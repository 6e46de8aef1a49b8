/** Control characters, and those that reverse the direction of writing; line breaks and tabs stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * The text with its invisible commands made visible: a reply must neither drive the terminal it is shown on (escape
 * sequences) nor look like another reply (bidirectional overrides).
 */
export function visible(text: string): string {
  const whole = text.replace(/\r\n/g, '\n').replace(/\p{Surrogate}/gu, '\ufffd');
  return whole.replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    // The Unicode block of pictures of control characters.
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
