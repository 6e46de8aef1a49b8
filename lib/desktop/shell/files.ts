import { extensionOf, HOME, nameOf, parentOf } from '../files/vfs.ts';
import { type Command, type CommandContext, flagsOf } from './context.ts';

/** Commands on files and folders. */
export const FILE_COMMANDS: Record<string, Command> = {
  ls: (args, context) => {
    const { flags, rest } = flagsOf(args);
    let status = 0;
    for (const target of rest.length > 0 ? rest : ['.']) status = listOne(target, flags, context) || status;
    return status;
  },

  pwd: (_args, context) => {
    context.out(`${context.folder}\n`);
    return 0;
  },

  cd: (args, context) => {
    const path = args[0] === undefined ? HOME : context.path(args[0]);
    if (!context.vfs.isFolder(path)) return context.fail(`cd: ${args[0]}: No such file or directory`);
    context.folder = path;
    return 0;
  },

  mkdir: (args, context) => {
    const { flags, rest } = flagsOf(args);
    if (rest.length === 0) return context.fail('mkdir: missing operand');
    let status = 0;
    for (const name of rest) {
      const path = context.path(name);
      if (context.vfs.exists(path) && !flags.has('p')) status = cannot(context, 'mkdir', name, 'File exists');
      else if (!flags.has('p') && !context.vfs.isFolder(parentOf(path)))
        status = cannot(context, 'mkdir', name, 'No such file or directory');
      else if (!context.vfs.makeFolder(path)) status = cannot(context, 'mkdir', name, 'Not a directory');
    }
    return status;
  },

  touch: (args, context) => {
    for (const name of flagsOf(args).rest) {
      const path = context.path(name);
      if (!context.vfs.exists(path) && !writable(path, context))
        return cannot(context, 'touch', name, 'No such file or directory');
      if (!context.vfs.exists(path)) context.vfs.write(path, '');
    }
    return 0;
  },

  rm: (args, context) => {
    const { flags, rest } = flagsOf(args);
    const recursive = flags.has('r') || flags.has('R');
    let status = 0;
    for (const name of rest) {
      const path = context.path(name);
      if (!context.vfs.exists(path)) {
        if (!flags.has('f')) status = cannot(context, 'rm', name, 'No such file or directory');
      } else if (context.vfs.isFolder(path) && !recursive) status = cannot(context, 'rm', name, 'Is a directory');
      else if (path === HOME || HOME.startsWith(`${path}/`) || path === '/')
        status = cannot(context, 'rm', name, 'Permission denied');
      else context.vfs.remove(path);
    }
    return status;
  },

  rmdir: (args, context) => {
    for (const name of args) {
      const path = context.path(name);
      if (!context.vfs.isFolder(path)) return cannot(context, 'rmdir', name, 'No such file or directory');
      if (context.vfs.list(path).length > 0) return cannot(context, 'rmdir', name, 'Directory not empty');
      context.vfs.remove(path);
    }
    return 0;
  },

  mv: (args, context) => transfer('mv', flagsOf(args).rest, context, (from, to) => context.vfs.move(from, to)),

  cp: (args, context) => {
    const { flags, rest } = flagsOf(args);
    const recursive = flags.has('r') || flags.has('R') || flags.has('a');
    return transfer('cp', rest, context, (from, to) => {
      if (context.vfs.isFolder(from) && !recursive) return false;
      return context.vfs.copy(from, to);
    });
  },

  chmod: (args, context) => {
    const [modeText = '', ...names] = args;
    for (const name of names) {
      const path = context.path(name);
      const mode = newMode(modeText, context.vfs.mode(path) ?? 0);
      if (mode === null) return context.fail(`chmod: invalid mode: '${modeText}'`);
      if (!context.vfs.setMode(path, mode)) return cannot(context, 'chmod', name, 'No such file or directory');
    }
    return names.length > 0 ? 0 : context.fail('chmod: missing operand');
  },

  stat: (args, context) => {
    const name = args.at(-1) ?? '';
    const mode = context.vfs.mode(context.path(name));
    if (mode === null) return cannot(context, 'stat', name, 'No such file or directory');
    const wanted = args[0] === '-c' ? (args[1] ?? '') : 'File: %n  Size: %s  Access: %a';
    const size = String(context.vfs.size(context.path(name)));
    context.out(`${wanted.replaceAll('%a', mode.toString(8)).replaceAll('%s', size).replaceAll('%n', name)}\n`);
    return 0;
  },

  find: (args, context) => {
    const start = args[0] !== undefined && !args[0].startsWith('-') ? args[0] : '.';
    const at = args.indexOf('-name');
    const type = args[args.indexOf('-type') + 1];
    const pattern = at >= 0 ? globPattern(args[at + 1] ?? '') : null;
    const root = context.path(start);
    if (!context.vfs.exists(root)) return cannot(context, 'find', start, 'No such file or directory');
    for (const path of [root, ...context.vfs.below(root).sort()]) {
      if (pattern && !pattern.test(nameOf(path))) continue;
      if (args.includes('-type') && (type === 'd') !== context.vfs.isFolder(path)) continue;
      context.out(`${start}${path.slice(root.length)}\n`);
    }
    return 0;
  },

  basename: (args, context) => {
    const name = nameOf(args[0] ?? '');
    context.out(`${args[1] !== undefined && name.endsWith(args[1]) ? name.slice(0, -args[1].length) : name}\n`);
    return 0;
  },

  dirname: (args, context) => {
    const path = args[0] ?? '';
    context.out(`${path.includes('/') ? parentOf(path) : '.'}\n`);
    return 0;
  },

  file: (args, context) => {
    for (const name of args) context.out(`${name}: ${extensionOf(name) || 'text'}\n`);
    return 0;
  },
};

/** A shell pattern (`*`, `?`) as a regular expression for a whole name. */
export function globPattern(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`);
}

function cannot(context: CommandContext, command: string, name: string, reason: string): number {
  return context.fail(`${command}: cannot access '${name}': ${reason}`);
}

function writable(path: string, context: CommandContext): boolean {
  return context.vfs.isFolder(parentOf(path));
}

function listOne(target: string, flags: Set<string>, context: CommandContext): number {
  const { vfs } = context;
  const path = context.path(target);
  if (!vfs.exists(path)) return cannot(context, 'ls', target, 'No such file or directory');
  const all = flags.has('a') || flags.has('A');
  const names = vfs.isFolder(path) ? vfs.list(path).filter((name) => all || !name.startsWith('.')) : [target];
  for (const name of names) {
    const full = vfs.isFolder(path) ? `${path}/${name}` : path;
    context.out(flags.has('l') ? `${longEntry(full, context)} ${name}\n` : `${name}\n`);
  }
  return 0;
}

function longEntry(path: string, { vfs }: CommandContext): string {
  const mode = vfs.mode(path) ?? 0;
  const letters = [6, 3, 0].map((shift) => {
    const bits = (mode >> shift) & 7;
    return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${bits & 1 ? 'x' : '-'}`;
  });
  return `${vfs.isFolder(path) ? 'd' : '-'}${letters.join('')} user ${vfs.size(path)}`;
}

function transfer(
  command: string,
  names: string[],
  context: CommandContext,
  move: (from: string, to: string) => boolean,
): number {
  const target = names.at(-1);
  if (names.length < 2 || target === undefined) return context.fail(`${command}: missing file operand`);
  const to = context.path(target);
  const intoFolder = context.vfs.isFolder(to);
  if (names.length > 2 && !intoFolder) return context.fail(`${command}: target '${target}' is not a directory`);
  let status = 0;
  for (const name of names.slice(0, -1)) {
    const from = context.path(name);
    const goal = intoFolder ? `${to}/${nameOf(from)}`.replace('//', '/') : to;
    if (!context.vfs.exists(from)) status = cannot(context, command, name, 'No such file or directory');
    else if (!writable(goal, context) || !move(from, goal)) status = cannot(context, command, name, 'not possible');
  }
  return status;
}

/** The mode after `chmod`: octal, or `[ugoa][+-=][rwx]`; null when the text is neither. */
function newMode(text: string, before: number): number | null {
  if (/^[0-7]{3,4}$/.test(text)) return Number.parseInt(text, 8);
  const match = /^([ugoa]*)([+=-])([rwx]+)$/.exec(text);
  if (!match) return null;
  const [, who = '', operator, letters = ''] = match;
  const bits = [...letters].reduce((sum, l) => sum | ({ r: 4, w: 2, x: 1 }[l] ?? 0), 0);
  const shifts = [6, 3, 0].filter((_, i) => who === '' || who.includes('a') || who.includes('ugo'[i] ?? '?'));
  let mode = before;
  for (const shift of shifts) {
    if (operator === '=') mode = (mode & ~(7 << shift)) | (bits << shift);
    else if (operator === '+') mode |= bits << shift;
    else mode &= ~(bits << shift);
  }
  return mode;
}
