import type { Line } from '../../ui/lines.ts';

/** Writer's document format: Markdown, one paragraph a line (docs/desktop.md, Writer). */
export function printMarkdown(lines: Line[]): string {
  return lines.map((line) => `${printLine(line)}\n`).join('');
}

function printLine(line: Line): string {
  let text = line.text;
  if (line.italic && text !== '') text = `*${text}*`;
  if (line.bold && text !== '') text = `**${text}**`;
  if (line.center) text = `<center>${text}</center>`;
  if (line.list) text = `- ${text}`;
  if (line.heading) text = `# ${text}`;
  return text;
}

/** The inverse of `printMarkdown`. */
export function parseMarkdown(text: string): Line[] {
  return splitLines(text).map(parseLine);
}

/** Lines of a text; the line end at its end makes no further line. */
export function splitLines(text: string): string[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function parseLine(source: string): Line {
  const line: Line = { text: source };
  const peel = (mark: 'heading' | 'list' | 'center' | 'bold' | 'italic', before: string, after: string) => {
    const { text } = line;
    if (!text.startsWith(before) || !text.endsWith(after) || text.length < before.length + after.length) return;
    line.text = text.slice(before.length, text.length - after.length);
    line[mark] = true;
  };
  peel('heading', '# ', '');
  peel('list', '- ', '');
  peel('center', '<center>', '</center>');
  peel('bold', '**', '**');
  if (line.text !== '*' && line.text !== '**') peel('italic', '*', '*');
  return line;
}
