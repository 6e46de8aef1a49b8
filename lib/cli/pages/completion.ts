import { BUILT_IN } from '../flags.ts';
import { placeholderOf } from '../layout.ts';
import type { CommandSpec, OptionSpec } from '../spec.ts';
import { commandsOf, type Node } from './tree.ts';

/** Shell completion for all commands: option names, choices, subcommands, and files elsewhere. */

/** To be sourced by bash. */
export function bashCompletion(specs: readonly CommandSpec[]): string {
  const nodes = specs.flatMap((spec) => commandsOf(spec));
  return `# bash completion for the dart commands: source this file, or put it into bash-completion's folder.

_dart() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local place=\${COMP_WORDS[0]##*/} word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
${caseLine(nodes.filter(({ path }) => path.length > 1))}
      *) break ;;
    esac
  done
  local words=
  case "$place $previous" in
${nodes.flatMap(bashChoices).join('\n')}
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$place" in
${nodes.map(bashWords).join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  COMPREPLY=($(compgen -W "\${words//--*/}" -- "$current") $(compgen -f -- "$current"))
}
complete -o filenames -F _dart ${specs.map((spec) => spec.name).join(' ')}
`;
}

function caseLine(nodes: readonly Node[]): string {
  if (nodes.length === 0) return '      "") ;;';
  const patterns = nodes.map(({ path }) => `'${path.join(' ')}'`).join(' | ');
  return `      ${patterns}) place="$place $word" ;;`;
}

function bashChoices({ spec, path }: Node): string[] {
  return spec.options
    .filter((option) => option.choices)
    .map((option) => `    '${path.join(' ')} --${option.name}') words='${option.choices?.join(' ')}' ;;`);
}

/** Subcommands first: what stands before the first option is all that is offered without a dash. */
function bashWords({ spec, path }: Node): string {
  const names = [...(spec.subcommands ?? []).map((sub) => sub.name), ...optionsOf(spec).flatMap(flagsOf)];
  return `    '${path.join(' ')}') words='${names.join(' ')}' ;;`;
}

function optionsOf(spec: CommandSpec): OptionSpec[] {
  return [...spec.options, ...BUILT_IN];
}

function flagsOf(option: OptionSpec): string[] {
  return option.type === 'boolean' && option.default === true
    ? [`--${option.name}`, `--no-${option.name}`]
    : [`--${option.name}`];
}

/** For a folder of zsh's `fpath`, under the name `_dart`. */
export function zshCompletion(specs: readonly CommandSpec[]): string {
  const nodes = specs.flatMap((spec) => commandsOf(spec));
  return `#compdef ${specs.map((spec) => spec.name).join(' ')}
# zsh completion for the dart commands: put this file into a folder of your fpath.

${nodes.map(zshFunction).join('\n\n')}

_dart() {
  local place=\${service:-\${words[1]:t}}
  _dart_run "$place"
}

_dart_run() {
  local name=_\${\${1//-/_}// /_}
  (( $+functions[$name] )) && $name || _files
}

_dart "$@"
`;
}

function zshFunction({ spec, path }: Node): string {
  const options = optionsOf(spec).flatMap((option) => zshOption(option).map((line) => `    ${line} \\`));
  const subs = spec.subcommands ?? [];
  const name = functionName(path);
  const list = subs.map((sub) => `'${sub.name}:${quoted(sub.summary)}'`).join(' ');
  const cases = subs.map(
    (sub) => `    ${sub.name}) (( CURRENT-- )); shift words; ${functionName([...path, sub.name])}; return ;;`,
  );
  const dispatch = subs.length === 0 ? [] : ['  case $words[2] in', ...cases, '  esac'];
  const first =
    subs.length === 0 ? [] : [`  local -a commands=(${list})`, '  (( CURRENT == 2 )) && _describe command commands'];
  return [`${name}() {`, ...dispatch, ...first, '  _arguments -s \\', ...options, "    '*:file:_files'", '}'].join(
    '\n',
  );
}

function functionName(path: readonly string[]): string {
  return `_${path.join('_').replaceAll('-', '_')}`;
}

function zshOption(option: OptionSpec): string[] {
  const many = option.multiple ? '*' : '';
  const text = `[${quoted(option.describe)}]`;
  if (option.type === 'boolean') return flagsOf(option).map((flag) => `'${flag}${text}'`);
  const values = option.choices ? `(${option.choices.join(' ')})` : '_files';
  return [`'${many}--${option.name}=${text}:${quoted(placeholderOf(option))}:${values}'`];
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''").replace(/[[\]:]/g, (mark) => `\\${mark}`);
}
