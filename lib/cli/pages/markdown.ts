import { paragraphsOf } from '../help.ts';
import { detailsOf, ENVIRONMENT_NOTE, exitCodesOf, fullForm, groupsOf, usageOf } from '../layout.ts';
import type { CommandSpec, OptionSpec } from '../spec.ts';
import { commandsOf, type Node } from './tree.ts';

/** The reference page of a command and its subcommands. */
export function markdownPage(spec: CommandSpec): string {
  const parts = commandsOf(spec).flatMap((node, i) => commandPart(node, i === 0));
  return `${[...parts, ENVIRONMENT_NOTE].join('\n\n')}\n`;
}

function commandPart({ spec, path }: Node, first: boolean): string[] {
  const mark = first ? '#' : '##';
  return [
    `${mark} ${path.join(' ')}`,
    `${spec.summary}.`,
    ['```', usageOf(spec, path), '```'].join('\n'),
    ...paragraphsOf(spec).map(escaped),
    ...positionalsTable(spec),
    ...subcommandsTable(spec),
    ...[...groupsOf(spec)].flatMap(([heading, options]) => [`**${heading}**`, optionsTable(options)]),
    ...examples(spec),
    '**Exit codes**',
    table(
      ['code', 'meaning'],
      exitCodesOf(spec).map(([code, text]) => [String(code), escaped(text)]),
    ),
  ];
}

function positionalsTable(spec: CommandSpec): string[] {
  const rows = (spec.positionals ?? []).map((item) => [`\`${item.name.toUpperCase()}\``, escaped(item.describe)]);
  return rows.length === 0 ? [] : [table(['argument', ''], rows)];
}

function subcommandsTable(spec: CommandSpec): string[] {
  const rows = (spec.subcommands ?? []).map((sub) => [`\`${sub.name}\``, escaped(sub.summary)]);
  return rows.length === 0 ? [] : [table(['subcommand', ''], rows)];
}

function optionsTable(options: readonly OptionSpec[]): string {
  const rows = options.map((option) => [
    `\`${fullForm(option).replaceAll('|', '\\|')}\``,
    escaped(option.describe),
    detailsOf(option)
      .map((detail) => escaped(detail))
      .join('; '),
  ]);
  return table(['option', '', ''], rows);
}

function examples(spec: CommandSpec): string[] {
  const list = spec.examples ?? [];
  if (list.length === 0) return [];
  return ['**Examples**', ...list.map((item) => `${escaped(item.describe)}:\n\n\`\`\`sh\n${item.command}\n\`\`\``)];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('\n', ' ').replace(/[|<*_]/g, (mark) => `\\${mark}`);
}
