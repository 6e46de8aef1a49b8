import { normalize, sep } from 'node:path';
import { wrap } from '../../lib/cli/layout.ts';
import { nearest } from '../../lib/cli/usage.ts';
import { DartError } from '../../lib/errors.ts';

/** A variable that a program takes from its environment: `make ablation SEEDS=2`. */
export interface Variable {
  /** What it is where nobody says: a number, or words for what follows from others. */
  otherwise: number | string;
  describe: string;
}

/** What a program of the experiments takes: its help and its page are made from this, and it reads nothing else. */
export interface Program<V extends string = string, F extends string = string> {
  /** Of its target: `make ablation`. */
  name: string;
  summary: string;
  /** What can be asked for in ARGS in place of everything. */
  words: Readonly<Record<string, string>>;
  /** Options in ARGS, without their dashes. */
  flags: Readonly<Record<F, string>>;
  variables: Readonly<Record<V, Variable>>;
}

/** What was asked for in ARGS. */
export interface Request<F extends string = string> {
  /** A word of the program's; null: everything. */
  word: string | null;
  flags: ReadonlySet<F>;
  help: boolean;
}

/** Reads ARGS. @throws DartError that names what the program knows, where something else was said */
export function requestOf<F extends string>(program: Program<string, F>, args: readonly string[]): Request<F> {
  const flags = new Set<F>();
  const said: string[] = [];
  let help = false;
  for (const arg of args) {
    const flag = arg.replace(/^--/, '');
    if (arg === '--help' || arg === '-h') help = true;
    else if (!arg.startsWith('-')) said.push(arg);
    else if (arg.startsWith('--') && Object.hasOwn(program.flags, flag)) flags.add(flag as F);
    else throw unknown('option', arg, [...Object.keys(program.flags), 'help'].map(dashed));
  }
  const words = Object.keys(program.words);
  const wrong = said.find((word) => !words.includes(word));
  if (wrong !== undefined) throw unknown('word', wrong, words);
  if (said.length > 1)
    throw new DartError(`one word at a time, not ${said.join(' ')}`, { where: 'ARGS', hint: `ARGS=${said[0]}` });
  return { word: said[0] ?? null, flags, help };
}

function unknown(what: string, said: string, known: readonly string[]): DartError {
  const near = nearest(said, known);
  const list = known.length > 0 ? `known are ${known.join(', ')}` : 'none is known';
  const hint = near ? `ARGS=${near}` : 'ARGS=--help';
  return new DartError(`there is no ${what} ${said}: ${list}`, { where: 'ARGS', hint });
}

const dashed = (name: string) => `--${name}`;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a program's variables, and no others. */
export class Variables<V extends string> {
  readonly #program: Program<V>;
  readonly #env: Environment;

  constructor(program: Program<V>, env: Environment) {
    this.#program = program;
    this.#env = env;
  }

  /** What was said; undefined where nothing was. */
  given(name: V): string | undefined {
    return this.#env[name] || undefined;
  }

  text(name: V): string {
    return this.given(name) ?? String(this.#program.variables[name].otherwise);
  }

  /** A folder, as one text however it is written: `./runs/x/` is `runs/x`. */
  folder(name: V): string {
    const path = normalize(this.text(name));
    return path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path;
  }

  /**
   * A number above 0.
   * @param otherwise where it follows from others
   */
  number(name: V, otherwise?: number): number {
    const text = this.given(name);
    const usual = otherwise ?? Number(this.#program.variables[name].otherwise);
    if (text === undefined) return usual;
    const value = Number(text);
    if (Number.isFinite(value) && value > 0) return value;
    throw new DartError(`expected a number above 0, not ${text}`, { where: name, hint: exampleOf(name, usual) });
  }

  /** A whole number above 0. */
  whole(name: V, otherwise?: number): number {
    const value = this.number(name, otherwise);
    if (Number.isInteger(value)) return value;
    const usual = otherwise ?? Number(this.#program.variables[name].otherwise);
    throw new DartError(`expected a whole number, not ${value}`, { where: name, hint: exampleOf(name, usual) });
  }

  /** A whole number above 0; null where nobody says. */
  wholeOrAll(name: V): number | null {
    return this.given(name) === undefined ? null : this.whole(name, 8);
  }

  /** The words of a list, with commas or spaces between; undefined where nobody says. @throws DartError where it is empty */
  list(name: V, known: readonly string[]): readonly string[] | undefined {
    const text = this.given(name);
    if (text === undefined) return undefined;
    const words = text.split(/[\s,]+/).filter(Boolean);
    if (words.length > 0) return words;
    throw new DartError(`names none in '${text}'`, { where: name, hint: `${name}=${known.join(',')}` });
  }
}

const exampleOf = (name: string, usual: number) => `${name}=${Number.isFinite(usual) ? usual : 8}`;

const WIDTH = 100;
const INDENT = 22;

/** The page of `ARGS=--help`. */
export function helpOf(program: Program): string {
  const { name, summary, words, flags, variables } = program;
  const asked = Object.keys(words).length > 0 ? '[WORD] [OPTION]...' : '[OPTION]...';
  const lines = (title: string, entries: readonly (readonly [string, string])[]) =>
    entries.length === 0 ? [] : ['', `${title}:`, ...entries.flatMap(([left, text]) => entry(left, text))];
  const options = Object.entries<string>({ ...flags, help: 'Print this.' });
  return `${[
    ...wrap(`make ${name} - ${summary}`, WIDTH),
    '',
    `Usage: make ${name} [VARIABLE=VALUE]... [ARGS='${asked}']`,
    ...lines('Words', Object.entries(words)),
    ...lines(
      'Options',
      options.map(([flag, text]) => [dashed(flag), text]),
    ),
    ...lines(
      'Variables',
      Object.entries(variables).map(([variable, { describe, otherwise }]) => [
        variable,
        `${describe} (default ${otherwise})`,
      ]),
    ),
    ...lines('Exit codes of the program (make itself ends with 2 where one is not 0)', [
      ['0', 'done'],
      ['2', 'wrong usage, other settings than those of before, or a command that failed'],
      ['75', 'another run uses the folder'],
      ['129, 130, 143', 'ended by SIGHUP, Ctrl-C, SIGTERM'],
    ]),
  ].join('\n')}\n`;
}

function entry(name: string, text: string): string[] {
  const lines = wrap(text, WIDTH - INDENT).map((line) => ' '.repeat(INDENT) + line);
  const [first = ''] = lines;
  return [`  ${name}`.padEnd(INDENT) + first.slice(INDENT), ...lines.slice(1)];
}
