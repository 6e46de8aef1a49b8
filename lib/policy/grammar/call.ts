import { readEscape } from '../../guest/python_escapes.ts';

/**
 * Reads `name(key='value', …)` calls out of text, by hand: what a model says is never evaluated.
 * Strings follow Python's rules, with one allowance: a quote of the string's own kind that neither another argument nor
 * the end of the call follows is taken as part of the text, since models forget to escape apostrophes.
 */
export interface Argument {
  /** Null for a positional argument. */
  name: string | null;
  value: string;
}

export interface Call {
  verb: string;
  arguments: Argument[];
}

/** As much as a message shows of what a model wrote. */
const MAX_MESSAGE = 200;

/** Why a text is not a list of actions, in words for the record's `parse_error`. */
export class GrammarError extends Error {
  constructor(message: string) {
    super(clipped(message));
  }
}

/** A text that fits into a message. */
export function clipped(text: string, length = MAX_MESSAGE): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Comments, code fences, punctuation and a model's own end marks stand between calls as blanks do. */
const BETWEEN = /(?:[\s;,.。；]|#[^\n]*|```[a-z]*|<\|[a-z_]+\|>|\[EOS\]|<\/s>)*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const KEYWORD = /\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*/y;
/**
 * What may follow the quote that ends a string: a comma with another argument, or the end of the call. A parenthesis
 * that more of a program follows is part of the text: `type(content='print('hi')\n')`.
 */
const AFTER_STRING = /\s*(?:\)(?!['"\\)\]:]|\.\w)|,\s*(?:\)|[A-Za-z_]\w*\s*=|['"([<\d-])|$)/y;
const BLANKS = /\s*/y;

/** What Python writes before the quote of a string; `f` and `b` make it something else than this text. */
const PREFIX = /[rbfu]{1,2}(?=['"])/iy;
const LINE_END = /[ \t]*(?:$|[\r\n])/y;

/** All calls of a text, in order. Throws GrammarError on anything that is not a call, and when there is none. */
export function readCalls(text: string): Call[] {
  const calls: Call[] = [];
  let at = skip(BETWEEN, text, 0);
  while (at < text.length) {
    const [call, end] = readCall(text, at);
    calls.push(call);
    at = skip(BETWEEN, text, end);
  }
  if (calls.length === 0) throw new GrammarError('there is no action');
  return calls;
}

function readCall(text: string, start: number): [Call, number] {
  const verb = match(NAME, text, start);
  if (verb === null) throw new GrammarError(`expected an action, found ${excerpt(text, start)}`);
  let at = skip(BLANKS, text, start + verb.length);
  if (text[at] !== '(' && test(LINE_END, text, start + verb.length))
    throw new GrammarError(`${clipped(verb, 40)} needs ()`);
  if (text[at] !== '(') throw new GrammarError(`expected "(" after ${verb}, found ${excerpt(text, at)}`);
  const call: Call = { verb: verb.toLowerCase(), arguments: [] };
  at = skip(BLANKS, text, at + 1);
  while (text[at] !== ')') {
    const [argument, end] = readArgument(text, at, verb);
    call.arguments.push(argument);
    at = skip(BLANKS, text, end);
    if (text[at] === ',') at = skip(BLANKS, text, at + 1);
    else if (text[at] !== ')') throw new GrammarError(`${verb}( is not closed, found ${excerpt(text, at)}`);
  }
  return [call, at + 1];
}

function readArgument(text: string, start: number, verb: string): [Argument, number] {
  if (start >= text.length) throw new GrammarError(`${verb}( is not closed`);
  KEYWORD.lastIndex = start;
  const keyword = KEYWORD.exec(text);
  const name = keyword ? keyword[1]!.toLowerCase() : null;
  const at = keyword ? KEYWORD.lastIndex : start;
  const prefix = match(PREFIX, text, at)?.toLowerCase() ?? '';
  if (/[fb]/.test(prefix))
    throw new GrammarError(`${verb}( has a string with ${prefix} before it, which would have to be evaluated`);
  const quoted = at + prefix.length;
  const isText = text[quoted] === "'" || text[quoted] === '"';
  const [value, end] = isText ? readString(text, quoted, verb, prefix.includes('r')) : readBare(text, at, verb);
  return [{ name, value }, end];
}

/** A quoted string from its opening quote; returns its text and the place behind the closing quote. */
function readString(text: string, start: number, verb: string, raw: boolean): [string, number] {
  const quote = quoteAt(text, start);
  let value = '';
  let at = start + quote.length;
  while (at < text.length) {
    const character = text[at]!;
    if (character === '\\') {
      const [escaped, length] = raw ? [text.slice(at, at + 2), 2] : readEscape(text, at);
      value += escaped;
      at += length;
      continue;
    }
    if (character === quote[0] && text.startsWith(quote, at) && test(AFTER_STRING, text, at + quote.length))
      return [value, at + quote.length];
    value += character;
    at += 1;
  }
  throw new GrammarError(`a string in ${verb}( is not closed`);
}

/** One quote, or three; `''')` is one that holds another. */
function quoteAt(text: string, start: number): string {
  const three = text.slice(start, start + 3);
  const isThree = three[1] === three[0] && three[2] === three[0] && !test(AFTER_STRING, text, start + 3);
  return isThree ? three : three[0]!;
}

/** An unquoted value: up to the comma or parenthesis that ends it, brackets in between balanced. */
function readBare(text: string, start: number, verb: string): [string, number] {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (character === '(' || character === '[') depth += 1;
    else if (depth > 0 && (character === ')' || character === ']')) depth -= 1;
    else if (depth === 0 && (character === ',' || character === ')')) {
      const value = text.slice(start, at).trim();
      if (value === '') throw new GrammarError(`an argument of ${verb}( is empty`);
      return [value, at];
    }
  }
  throw new GrammarError(`${verb}( is not closed`);
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function test(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** A few characters of what stands there, for the message. */
function excerpt(text: string, at: number): string {
  if (at >= text.length) return 'the end';
  const shown = text.slice(at, at + 24);
  return `${JSON.stringify(shown)}${at + 24 < text.length ? '…' : ''}`;
}
