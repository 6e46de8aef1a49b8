import { HOME, nameOf, parentOf, resolvePath, type Vfs } from '../files/vfs.ts';
import type { Command, CommandContext } from './context.ts';
import { FILE_COMMANDS, globPattern } from './files.ts';
import { type Pipeline, parseLine, type SimpleCommand, type Word } from './parse.ts';
import { TEXT_COMMANDS } from './text.ts';

export interface ShellHost {
  vfs: Vfs;
  launch(argv: string[]): boolean;
  kill(name: string): boolean;
}

export interface ShellResult {
  output: string;
  error: string;
  returncode: number;
  folder: string;
}

/** Deeper `sh -c` than this is refused, so that a line cannot run for ever. */
const MAX_DEPTH = 8;
/** Characters that a command may print. */
const MAX_OUTPUT = 1 << 20;

const COMMANDS = new Map<string, Command>(Object.entries({ ...FILE_COMMANDS, ...TEXT_COMMANDS }));

interface State {
  folder: string;
  output: string;
  error: string;
  status: number;
  ended: boolean;
  depth: number;
  variables: Map<string, string>;
}

/**
 * Runs a command line in the desktop's own shell: its commands are functions over the virtual file system, nothing
 * reaches the host. An unknown command gives 127, a line that cannot be parsed 2.
 */
export function runLine(line: string, host: ShellHost, folder = HOME): ShellResult {
  const state = freshState(folder, 0);
  runText(line, host, state);
  return resultOf(state);
}

/** Runs one command given as words, without any expansion (as execve does). */
export function runArguments(argv: string[], host: ShellHost, folder = HOME): ShellResult {
  const state = freshState(folder, 0);
  const [name = '', ...args] = argv;
  const run = runCommand(name, args, '', host, state);
  state.output = run.output;
  return resultOf(state);
}

function freshState(folder: string, depth: number): State {
  return { folder, output: '', error: '', status: 0, ended: false, depth, variables: new Map() };
}

function resultOf({ output, error, status, folder }: State): ShellResult {
  return { output, error, returncode: status, folder };
}

function runText(line: string, host: ShellHost, state: State): void {
  let pipelines: Pipeline[];
  try {
    pipelines = parseLine(line);
  } catch (error) {
    state.error += `sh: ${error instanceof Error ? error.message : 'syntax error'}\n`;
    state.status = 2;
    return;
  }
  for (const pipeline of pipelines) {
    if (state.ended) return;
    if (pipeline.when === '&&' && state.status !== 0) continue;
    if (pipeline.when === '||' && state.status === 0) continue;
    runPipeline(pipeline, host, state);
  }
}

function runPipeline(pipeline: Pipeline, host: ShellHost, state: State): void {
  let piped = '';
  for (const command of pipeline.commands) piped = runSimple(command, piped, host, state);
  state.output = (state.output + piped).slice(0, MAX_OUTPUT);
}

function runSimple(command: SimpleCommand, piped: string, host: ShellHost, state: State): string {
  const words = command.words.flatMap((word) => expand(word, host.vfs, state));
  while (/^[A-Za-z_]\w*=/.test(words[0] ?? '')) {
    const [name = '', ...rest] = (words.shift() ?? '').split('=');
    state.variables.set(name, rest.join('='));
  }
  const [name, ...args] = words;
  if (name === undefined) return '';
  let input = piped;
  for (const redirect of command.redirects.filter((r) => r.kind === '<')) {
    const path = resolvePath(expand(redirect.target, host.vfs, state).join(' '), state.folder);
    const text = host.vfs.readText(path);
    if (text === null) return complain(state, `sh: ${path}: No such file or directory`);
    input = text;
  }
  const before = state.error;
  const { output } = runCommand(name, args, input, host, state);
  return redirectOutput(command, output, before, host, state);
}

function complain(state: State, message: string): string {
  state.error += `${message}\n`;
  state.status = 1;
  return '';
}

/** Sends output and errors where the redirections say; returns what is left for the pipe. */
function redirectOutput(
  command: SimpleCommand,
  output: string,
  errorBefore: string,
  host: ShellHost,
  state: State,
): string {
  let left = output;
  for (const { kind, target } of command.redirects) {
    if (kind === '2>&1') {
      left += state.error.slice(errorBefore.length);
      state.error = errorBefore;
      continue;
    }
    if (kind === '<') continue;
    const path = resolvePath(expand(target, host.vfs, state).join(' '), state.folder);
    const text = kind === '2>' ? state.error.slice(errorBefore.length) : left;
    if (kind === '2>') state.error = errorBefore;
    else left = '';
    if (path === '/dev/null') continue;
    const old = kind === '>>' ? (host.vfs.readText(path) ?? '') : '';
    if (!host.vfs.isFolder(parentOf(path)) || !host.vfs.write(path, old + text)) {
      complain(state, `sh: ${path}: No such file or directory`);
    }
  }
  return left;
}

function runCommand(name: string, args: string[], input: string, host: ShellHost, state: State): { output: string } {
  let output = '';
  const context: CommandContext = {
    vfs: host.vfs,
    folder: state.folder,
    input,
    out: (text) => {
      if (output.length < MAX_OUTPUT) output += text;
    },
    fail: (message) => {
      state.error += `${message}\n`;
      return 1;
    },
    nested: (line) => nested(line, host, state, context),
    launch: (argv) => host.launch(argv),
    kill: (app) => host.kill(app),
    path: (argument) => resolvePath(argument, state.folder),
  };
  state.status = statusOf(name, args, context, state);
  state.folder = context.folder;
  return { output };
}

function statusOf(name: string, args: string[], context: CommandContext, state: State): number {
  const base = name.replace(/^\/(usr\/)?bin\//, '');
  if (base === 'exit') state.ended = true;
  if ((base === 'sh' || base === 'bash') && args[0]?.startsWith('-') && args[0].endsWith('c'))
    return context.nested(args[1] ?? '');
  if (base === 'which') return which(args, context);
  if (base === 'pkill' || base === 'killall') return context.kill(args.at(-1) ?? '') ? 0 : 1;
  if (base === 'sudo' || base === 'nohup' || base === 'setsid') {
    return args[0] === undefined ? 1 : statusOf(args[0], args.slice(1), context, state);
  }
  const command = COMMANDS.get(base);
  if (command) return command(args, context);
  if (context.launch([base, ...args])) return 0;
  context.fail(`sh: ${name}: command not found`);
  return 127;
}

function which(args: string[], context: CommandContext): number {
  const name = args[0] ?? '';
  if (!COMMANDS.has(name)) return 1;
  context.out(`/usr/bin/${name}\n`);
  return 0;
}

function nested(line: string, host: ShellHost, state: State, context: CommandContext): number {
  if (state.depth >= MAX_DEPTH) return context.fail('sh: too deep');
  const inner = freshState(state.folder, state.depth + 1);
  runText(line, host, inner);
  context.out(inner.output);
  state.error += inner.error;
  return inner.status;
}

/** A word after variables, `~` and globs: usually one, several for a glob, none for an empty unquoted variable. */
function expand(word: Word, vfs: Vfs, state: State): string[] {
  const text = substituteWord(word, state);
  const bare = word.filter((piece) => !piece.quoted);
  if (text === '') return bare.length === word.length ? [] : [''];
  if (!bare.some((piece) => /[*?]/.test(piece.text))) return [text];
  const path = resolvePath(text, state.folder);
  const pattern = globPattern(nameOf(path));
  const names = vfs.list(parentOf(path)).filter((name) => pattern.test(name) && !name.startsWith('.'));
  const prefix = text.slice(0, text.lastIndexOf('/') + 1);
  return names.length > 0 ? names.map((name) => prefix + name) : [text];
}

/** Unquoted characters come one a piece; variables among them are put together again here. */
function substituteWord(word: Word, state: State): string {
  let result = '';
  let run = '';
  const flush = () => {
    const start = result === '' && run.startsWith('~') && (run === '~' || run[1] === '/') ? HOME + run.slice(1) : run;
    result += substitute(start, state);
    run = '';
  };
  for (const piece of word) {
    if (!piece.quoted) {
      run += piece.text;
      continue;
    }
    flush();
    result += piece.literal ? piece.text : substitute(piece.text, state);
  }
  flush();
  return result;
}

function substitute(text: string, state: State): string {
  const known: Record<string, string> = { HOME, USER: 'user', PWD: state.folder, '?': String(state.status) };
  return text.replace(/\$(?:\{(\w+)\}|(\w+|\?))/g, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? '';
    return state.variables.get(name) ?? known[name] ?? '';
  });
}
