/** A word of a command line: its pieces, and whether they were quoted (quoted pieces are not expanded as globs). */
export interface Piece {
  text: string;
  quoted: boolean;
  /** Single quotes: no variables either. */
  literal: boolean;
}
export type Word = Piece[];

export interface Redirect {
  kind: '>' | '>>' | '<' | '2>' | '2>&1';
  target: Word;
}

export interface SimpleCommand {
  words: Word[];
  redirects: Redirect[];
}

/** Commands joined by `|`, and how the line goes on to them: always, after success, after failure. */
export interface Pipeline {
  when: ';' | '&&' | '||';
  commands: SimpleCommand[];
}

type Token = { kind: 'word'; word: Word } | { kind: 'operator'; text: string };

const OPERATORS = ['2>&1', '2>', '>>', '&&', '||', '>', '<', '|', ';', '&', '\n'];

/** Splits a command line; throws an Error with a shell-like message when it makes no sense. */
export function parseLine(line: string): Pipeline[] {
  const pipelines: Pipeline[] = [];
  let pipeline: Pipeline = { when: ';', commands: [] };
  let command: SimpleCommand = { words: [], redirects: [] };
  const endCommand = (needed: boolean) => {
    if (command.words.length > 0) pipeline.commands.push(command);
    else if (needed || command.redirects.length > 0) throw new Error('syntax error');
    command = { words: [], redirects: [] };
  };
  const endPipeline = (next: Pipeline['when'], needed: boolean) => {
    endCommand(needed);
    if (pipeline.commands.length > 0) pipelines.push(pipeline);
    pipeline = { when: next, commands: [] };
  };
  const tokens = tokenise(line);
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token.kind === 'word') command.words.push(token.word);
    else if (token.text === '|') endCommand(true);
    else if (token.text === '&&' || token.text === '||') endPipeline(token.text, true);
    else if (token.text === ';' || token.text === '\n' || token.text === '&') endPipeline(';', false);
    else if (token.text === '2>&1') command.redirects.push({ kind: '2>&1', target: [] });
    else {
      const next = tokens[++i];
      if (next?.kind !== 'word') throw new Error('syntax error: file name expected');
      command.redirects.push({ kind: token.text as Redirect['kind'], target: next.word });
    }
  }
  endPipeline(';', pipeline.commands.length > 0);
  return pipelines;
}

function tokenise(line: string): Token[] {
  const tokens: Token[] = [];
  let word: Word | null = null;
  let at = 0;
  const flush = () => {
    if (word) tokens.push({ kind: 'word', word });
    word = null;
  };
  const add = (text: string, quoted: boolean, literal: boolean) => {
    word ??= [];
    word.push({ text, quoted, literal });
  };
  while (at < line.length) {
    const char = line[at]!;
    if (char === "'" || char === '"') {
      const [text, end] = readQuoted(line, at);
      add(text, true, char === "'");
      at = end;
      continue;
    }
    if (char === '\\') {
      add(line[at + 1] ?? '', true, true);
      at += 2;
      continue;
    }
    if (char === '#' && word === null) {
      at = nextLine(line, at);
      continue;
    }
    const operator = OPERATORS.find((o) => line.startsWith(o, at) && !(o.startsWith('2') && word !== null));
    if (operator !== undefined) {
      flush();
      tokens.push({ kind: 'operator', text: operator });
      at += operator.length;
      continue;
    }
    if (char === ' ' || char === '\t') flush();
    else add(char, false, false);
    at++;
  }
  flush();
  return tokens;
}

function nextLine(line: string, at: number): number {
  const end = line.indexOf('\n', at);
  return end < 0 ? line.length : end;
}

/** Content of quotes and the place after them. Inside double quotes a backslash keeps `" \ $` and backtick. */
function readQuoted(line: string, from: number): [string, number] {
  const quote = line[from];
  let text = '';
  let at = from + 1;
  while (at < line.length && line[at] !== quote) {
    if (quote === '"' && line[at] === '\\' && '"\\$`'.includes(line[at + 1] ?? ' ')) at++;
    text += line[at] ?? '';
    at++;
  }
  if (at >= line.length) throw new Error(`unexpected end of line while looking for ${quote}`);
  return [text, at + 1];
}
