import { readSetting, writeSetting } from '../files/settings.ts';
import { SETTING_DEFAULTS } from '../files/settings_table.ts';
import { HOME } from '../files/vfs.ts';
import { type Command, type CommandContext, flagsOf, linesOf, readAll } from './context.ts';

/** Commands on text, and those that only say something. */
export const TEXT_COMMANDS: Record<string, Command> = {
  echo: (args, context) => {
    const bare = args[0] === '-n' || args[0] === '-e';
    const text = (bare ? args.slice(1) : args).join(' ');
    context.out((args[0] === '-e' ? unescaped(text) : text) + (args[0] === '-n' ? '' : '\n'));
    return 0;
  },

  printf: (args, context) => {
    const [format = '', ...values] = args;
    let next = 0;
    const filled = unescaped(format).replace(/%[sd%]/g, (mark) => (mark === '%%' ? '%' : (values[next++] ?? '')));
    context.out(filled);
    return 0;
  },

  cat: (args, context) =>
    output(
      readAll(
        'cat',
        args.filter((a) => a !== '-'),
        context,
      ),
      context,
    ),

  head: (args, context) => part('head', args, context, (lines, n) => lines.slice(0, n)),
  tail: (args, context) => part('tail', args, context, (lines, n) => (n === 0 ? [] : lines.slice(-n))),

  sort: (args, context) => {
    const { flags, rest } = flagsOf(args);
    const text = readAll('sort', rest, context);
    if (text === null) return 1;
    const lines = linesOf(text).sort((a, b) => {
      const order = flags.has('n') ? Number.parseFloat(a) - Number.parseFloat(b) : 0;
      return order || (a < b ? -1 : a > b ? 1 : 0);
    });
    if (flags.has('r')) lines.reverse();
    return printLines(flags.has('u') ? lines.filter((l, i) => l !== lines[i - 1]) : lines, context);
  },

  uniq: (args, context) => {
    const text = readAll('uniq', flagsOf(args).rest, context);
    if (text === null) return 1;
    return printLines(
      linesOf(text).filter((line, i, all) => line !== all[i - 1]),
      context,
    );
  },

  wc: (args, context) => {
    const { flags, rest } = flagsOf(args);
    const text = readAll('wc', rest, context);
    if (text === null) return 1;
    const counts = {
      l: text.split('\n').length - 1,
      w: text.split(/\s+/).filter(Boolean).length,
      c: new TextEncoder().encode(text).length,
    };
    const wanted = (['l', 'w', 'c'] as const).filter((k) => flags.size === 0 || flags.has(k));
    context.out(`${[...wanted.map((k) => String(counts[k])), ...rest].join(' ')}\n`);
    return 0;
  },

  grep: (args, context) => {
    const { flags, rest } = flagsOf(args);
    const [pattern = '', ...files] = rest;
    const text = readAll('grep', files, context);
    if (text === null) return 2;
    // A fixed string: a pattern of the policy's must not be able to keep the host busy.
    const fold = (s: string) => (flags.has('i') ? s.toLowerCase() : s);
    const found = linesOf(text).filter((line) => fold(line).includes(fold(pattern)) !== flags.has('v'));
    if (flags.has('c')) context.out(`${found.length}\n`);
    else if (!flags.has('q')) printLines(found, context);
    return found.length > 0 ? 0 : 1;
  },

  sed: (args, context) => {
    const inPlace = args[0] === '-i';
    const [script = '', ...files] = inPlace ? args.slice(1) : args;
    const match = /^s(.)(.*)\1(.*)\1(g?)$/.exec(script);
    if (!match) return context.fail(`sed: only s/text/other/[g] is known, not ${script}`);
    const [, , find = '', replacement = '', all] = match;
    const text = readAll('sed', files, context);
    if (text === null || find === '') return 1;
    const swap = (line: string) =>
      all ? line.replaceAll(find, () => replacement) : line.replace(find, () => replacement);
    const result = text.split('\n').map(swap).join('\n');
    if (!inPlace) return output(result, context);
    for (const file of files.slice(0, 1)) context.vfs.write(context.path(file), result);
    return 0;
  },

  tr: (args, context) => {
    const [from = '', to = ''] = args.map(expandRange);
    const swapped = [...context.input].map((c) => {
      const at = from.indexOf(c);
      return at < 0 ? c : (to[Math.min(at, to.length - 1)] ?? c);
    });
    return output(swapped.join(''), context);
  },

  seq: (args, context) => {
    const from = args.length > 1 ? Number(args[0]) : 1;
    const to = Number(args.at(-1));
    if (!Number.isFinite(from) || !Number.isFinite(to)) return context.fail('seq: not a number');
    const count = Math.max(0, Math.min(1000, Math.floor(to) - from + 1));
    return printLines(
      Array.from({ length: count }, (_, i) => String(from + i)),
      context,
    );
  },

  whoami: say('user'),
  hostname: say('desktop'),
  date: say('Mon Jan  6 09:00:00 UTC 2025'),
  uname: say('Linux'),
  id: say('uid=1000(user) gid=1000(user)'),
  true: () => 0,
  false: () => 1,
  sleep: () => 0,
  sync: () => 0,
  exit: (args) => Number(args[0] ?? 0) & 255,
  ':': () => 0,

  test: (args, context) => (holds(args, context) ? 0 : 1),
  '[': (args, context) => (holds(args.slice(0, -1), context) ? 0 : 1),

  gsettings: (args, context) => {
    const [verb, schema = '', key = '', value] = args;
    if (verb === 'set' && value !== undefined) writeSetting(context.vfs, schema, key, value);
    else if (verb === 'reset') writeSetting(context.vfs, schema, key, null);
    else if (verb === 'get') context.out(`${readSetting(context.vfs, schema, key) ?? settingDefault(schema, key)}\n`);
    else return context.fail('gsettings: get SCHEMA KEY, set SCHEMA KEY VALUE, or reset SCHEMA KEY');
    return 0;
  },

  env: (_args, context) => output(`HOME=${HOME}\nUSER=user\nPWD=${context.folder}\n`, context),
};

function say(text: string): Command {
  return (_args, context) => {
    context.out(`${text}\n`);
    return 0;
  };
}

function settingDefault(schema: string, key: string): string {
  return SETTING_DEFAULTS.get(`${schema} ${key}`) ?? "''";
}

function output(text: string | null, context: CommandContext): number {
  if (text === null) return 1;
  context.out(text);
  return 0;
}

function printLines(lines: string[], context: CommandContext): number {
  return output(lines.map((line) => `${line}\n`).join(''), context);
}

function part(
  name: string,
  args: string[],
  context: CommandContext,
  take: (lines: string[], n: number) => string[],
): number {
  const at = args.findIndex((a) => /^-(n|\d+)$/.test(a));
  const flag = args[at] ?? '';
  const used = at < 0 ? 0 : flag === '-n' ? 2 : 1;
  const count = at < 0 ? 10 : Math.abs(Number(flag === '-n' ? args[at + 1] : flag));
  const files = args.filter((_, i) => at < 0 || i < at || i >= at + used);
  const text = readAll(name, files, context);
  if (text === null || !Number.isInteger(count)) return 1;
  return printLines(take(linesOf(text), count), context);
}

function unescaped(text: string): string {
  const known: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\' };
  return text.replace(/\\([ntr\\])/g, (_, letter: string) => known[letter] ?? letter);
}

function expandRange(set: string): string {
  return set.replace(/(.)-(.)/g, (_, a: string, b: string) => {
    const [from, to] = [a.charCodeAt(0), b.charCodeAt(0)];
    return String.fromCharCode(...Array.from({ length: Math.max(0, to - from + 1) }, (_unused, i) => from + i));
  });
}

function holds(args: string[], context: CommandContext): boolean {
  if (args[0] === '!') return !holds(args.slice(1), context);
  const [a = '', operator, b = ''] = args;
  const path = context.path(operator ?? '');
  if (a === '-f') return context.vfs.isFile(path);
  if (a === '-d') return context.vfs.isFolder(path);
  if (a === '-e') return context.vfs.exists(path);
  if (a === '-s') return context.vfs.size(path) > 0;
  if (a === '-z') return (operator ?? '') === '';
  if (a === '-n') return (operator ?? '') !== '';
  if (operator === '=' || operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  const numbers: Record<string, boolean> = {
    '-eq': Number(a) === Number(b),
    '-ne': Number(a) !== Number(b),
    '-gt': Number(a) > Number(b),
    '-lt': Number(a) < Number(b),
  };
  if (operator !== undefined) return numbers[operator] ?? false;
  return a !== '';
}
