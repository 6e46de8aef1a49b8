import { detailsOf, ENVIRONMENT_NOTE, exitCodesOf, fullForm, groupsOf, usageOf, wrap } from './layout.ts';
import type { CommandSpec, OptionSpec } from './spec.ts';

const WIDTH = 80;
/** Column at which descriptions begin. */
const INDENT = 26;

/** The page of `--help`, made from the table, at most 80 columns wide. `path` is `['dart-eval', 'score']`. */
export function renderHelp(spec: CommandSpec, path: readonly string[]): string {
  return [
    [`${path.join(' ')} - ${spec.summary}`],
    usageLines(spec, path),
    ...paragraphsOf(spec).map((text) => wrap(text, WIDTH)),
    section(
      'Commands',
      (spec.subcommands ?? []).flatMap((sub) => entry(sub.name, sub.summary)),
    ),
    section(
      'Arguments',
      (spec.positionals ?? []).flatMap((item) => entry(item.name.toUpperCase(), item.describe)),
    ),
    ...[...groupsOf(spec)].map(([heading, options]) => section(heading, options.flatMap(optionLines))),
    section('Examples', exampleLines(spec)),
    section(
      'Exit codes',
      exitCodesOf(spec).flatMap(([code, text]) => entry(String(code), text)),
    ),
    wrap(ENVIRONMENT_NOTE, WIDTH),
  ]
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

/** What is shown where there is nothing to work on: usage, one example, and where to read on. */
export function renderShortHelp(spec: CommandSpec, path: readonly string[]): string {
  const example = spec.examples?.[0];
  const commands = (spec.subcommands ?? []).flatMap((sub) => entry(sub.name, sub.summary));
  return [
    `${path.join(' ')} - ${spec.summary}`,
    ...usageLines(spec, path),
    ...section('Commands', commands),
    ...(example ? [`Example: ${example.command}`] : []),
    `More: ${path.join(' ')} --help`,
    '',
  ].join('\n');
}

/** The description's paragraphs: what blank lines part. */
export function paragraphsOf(spec: CommandSpec): string[] {
  return (spec.description ?? '').split(/\n\s*\n/).filter((text) => text.trim() !== '');
}

function usageLines(spec: CommandSpec, path: readonly string[]): string[] {
  const lines = [`Usage: ${usageOf(spec, path)}`];
  if (spec.run && spec.subcommands?.length) lines.push(`       ${path.join(' ')} COMMAND [OPTION]...`);
  return lines;
}

function section(heading: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`${heading}:`, ...lines];
}

function optionLines(option: OptionSpec): string[] {
  const details = detailsOf(option);
  const text = details.length === 0 ? option.describe : `${option.describe} (${details.join('; ')})`;
  return entry(option.alias === undefined ? `    ${fullForm(option)}` : fullForm(option), text);
}

/** A name at the left and its text at the right, or below where the name is long. */
function entry(name: string, text: string): string[] {
  const left = `  ${name}`;
  const lines = wrap(text, WIDTH - INDENT).map((line) => ' '.repeat(INDENT) + line);
  if (left.length + 2 > INDENT) return [left, ...lines];
  const [first = ''] = lines;
  return [left.padEnd(INDENT) + first.slice(INDENT), ...lines.slice(1)];
}

function exampleLines(spec: CommandSpec): string[] {
  return (spec.examples ?? []).flatMap((example) => [
    ...wrap(example.describe, WIDTH - 4).map((line) => `  ${line}`),
    ...commandLines(example.command).map((line) => `    ${line}`),
  ]);
}

/** A command that is too long for the page, continued as a shell takes it: before an option or a pipe. */
function commandLines(command: string): string[] {
  const lines: string[] = [];
  for (const part of command.split(/ (?=--?[a-z]|\|)/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length < WIDTH - 8) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(part);
  }
  return lines.map((line, i) => (i === 0 ? line : `  ${line}`) + (i === lines.length - 1 ? '' : ' \\'));
}
