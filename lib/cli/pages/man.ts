import { paragraphsOf } from '../help.ts';
import { detailsOf, ENVIRONMENT_NOTE, exitCodesOf, fullForm, groupsOf, usageOf } from '../layout.ts';
import type { CommandSpec, OptionSpec } from '../spec.ts';
import { commandsOf, type Node } from './tree.ts';

/** The man page (section 1, groff's man macros) of a command and its subcommands. */
export function manPage(spec: CommandSpec, version: string): string {
  const nodes = commandsOf(spec);
  const lines = [
    `.TH ${spec.name.toUpperCase()} 1 "" "dart-toolkit ${version}" "User Commands"`,
    '.SH NAME',
    `${text(spec.name)} \\- ${text(spec.summary)}`,
    '.SH SYNOPSIS',
    ...nodes.flatMap((node) => ['.br', `.B ${text(usageOf(node.spec, node.path))}`]),
    ...nodes.flatMap((node) => commandPart(node, node.path.length === 1)),
    '.SH ENVIRONMENT',
    text(ENVIRONMENT_NOTE),
    '.SH FILES',
    text('$XDG_CONFIG_HOME/dart/config.json (default ~/.config/dart/config.json)'),
  ];
  return `${lines.join('\n')}\n`;
}

function commandPart({ spec, path }: Node, first: boolean): string[] {
  const heading = first ? '.SH DESCRIPTION' : `.SH "${path.join(' ').toUpperCase()}"`;
  const opening = first ? [] : [`${text(spec.summary)}.`, '.PP'];
  return [
    heading,
    ...opening,
    ...paragraphsOf(spec).flatMap((paragraph) => [text(paragraph), '.PP']),
    ...(spec.positionals ?? []).flatMap((item) => tagged(item.name.toUpperCase(), item.describe)),
    ...[...groupsOf(spec)].flatMap(([group, options]) => [`.SS "${group}"`, ...options.flatMap(optionPart)]),
    ...examples(spec),
    '.SS "Exit status"',
    ...exitCodesOf(spec).flatMap(([code, meaning]) => tagged(String(code), meaning)),
  ];
}

function optionPart(option: OptionSpec): string[] {
  const details = detailsOf(option);
  return tagged(
    fullForm(option),
    details.length === 0 ? option.describe : `${option.describe} (${details.join('; ')})`,
  );
}

function examples(spec: CommandSpec): string[] {
  const list = spec.examples ?? [];
  if (list.length === 0) return [];
  return [
    '.SS "Examples"',
    ...list.flatMap((item) => [`${text(item.describe)}:`, '.PP', '.EX', text(item.command), '.EE', '.PP']),
  ];
}

function tagged(name: string, body: string): string[] {
  return ['.TP', `.B ${text(name)}`, text(body)];
}

/**
 * Escapes what groff reads as its own: backslashes, dashes that must stay ASCII, characters beyond ASCII, and a control
 * character in front.
 */
function text(plain: string): string {
  const escaped = plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\n', ' ')
    .replace(
      /[^ -~]/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
