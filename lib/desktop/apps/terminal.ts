import { HOME } from '../files/vfs.ts';
import { C } from '../screen/palette.ts';
import { Field } from '../ui/field.ts';
import type { Ui } from '../ui/ui.ts';
import type { TextTarget } from '../ui/widget.ts';
import { App } from './app.ts';

const ROWS_SHOWN = 12;
const CHARACTERS = 30;
const KEPT_LINES = 200;

/** A terminal on the desktop's own shell. */
export class TerminalApp extends App {
  private lines: string[] = [];
  private folder = HOME;
  private past: string[] = [];
  private readonly input = new Field('', { onEnter: () => this.enter() });

  get title(): string {
    return 'Terminal';
  }

  /** Everything shown so far with the line being typed. */
  get transcript(): string {
    return [...this.lines, `$ ${this.input.text}`].join('\n');
  }

  override get typing(): TextTarget {
    return this.input;
  }

  override open(args: string[]): void {
    if (args[0] && this.system.vfs.isFolder(args[0])) this.folder = args[0];
  }

  view(ui: Ui): void {
    const prompt = `$ ${this.input.text}`;
    const wrapped = [...this.lines.flatMap(wrap), ...wrap(`${prompt} `)].slice(-ROWS_SHOWN);
    ui.add('terminal', 0, 1, 15, 'Terminal', {
      h: ROWS_SHOWN,
      bg: C.black,
      label: '',
      text: this.transcript,
      focused: true,
    });
    wrapped.forEach((line, row) => {
      const last = row === wrapped.length - 1;
      const at = (2 + this.input.caret) % CHARACTERS;
      const caret = last && this.input.caret === this.input.text.length ? at : undefined;
      const fg = line.startsWith('$ ') || last ? C.checkOn : C.dockText;
      ui.draw(0, 1 + row, 15, line, { bg: C.black, fg, caret });
    });
  }

  override key(combo: string): boolean {
    if (combo === 'ctrl+l') this.lines = [];
    else if (combo === 'ctrl+c') this.drop();
    else if (combo === 'up') this.input.set(this.past.at(-1) ?? '');
    else return false;
    return true;
  }

  private drop(): void {
    this.lines.push(`$ ${this.input.text}^C`);
    this.input.set('');
  }

  private enter(): void {
    const line = this.input.text;
    this.input.set('');
    this.lines.push(`$ ${line}`);
    if (line.trim() === 'clear') {
      this.lines = [];
      return;
    }
    if (line.trim() === 'exit') {
      this.system.closeApp(this);
      return;
    }
    this.past.push(line);
    const { output, folder } = this.system.run(line, this.folder);
    this.folder = folder;
    this.lines.push(...output.split('\n').slice(0, output.endsWith('\n') || output === '' ? -1 : undefined));
    this.lines = this.lines.slice(-KEPT_LINES);
  }
}

function wrap(line: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < line.length; at += CHARACTERS) parts.push(line.slice(at, at + CHARACTERS));
  return parts;
}
