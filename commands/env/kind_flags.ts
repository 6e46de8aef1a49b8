import type { CommandContext, OptionSpec } from '../../lib/cli/spec.ts';
import { nearest, UsageError } from '../../lib/cli/usage.ts';
import type { DriverKind, KindOption } from '../../lib/environment/kind.ts';
import { commonOptions, KINDS, optionsOf } from '../../lib/environment/kinds.ts';
import type { Given } from '../../lib/environment/values.ts';

interface Owned {
  kind: string;
  option: KindOption;
  common: boolean;
}

/** Names that `dart-env up` has itself: a kind's option of such a name has the kind's name before it. */
const TAKEN: ReadonlySet<string> = new Set([
  'port',
  'grace',
  'count',
  'driver',
  'detach',
  'run-id',
  'output',
  'table',
  'seed',
  'config',
  'quiet',
  'run',
  'all',
  'orphans',
  'follow',
  'tail',
]);

/** `--latency`, `--kubernetes-port`. */
export function flagName(kind: string, option: string): string {
  return TAKEN.has(option) ? `${kind}-${option}` : option;
}

/**
 * The options of all kinds as flags. One that several kinds have is one flag, whose text each kind reads in its own way;
 * none has a default here, so that a flag of another kind is noticed.
 * @param which Leaves out what a command has no use for.
 */
export function kindFlags(which: (option: KindOption) => boolean = () => true): OptionSpec[] {
  const byName = new Map<string, Owned[]>();
  for (const kind of KINDS) {
    const common = commonOptions(kind);
    for (const option of optionsOf(kind).filter(which)) {
      const name = flagName(kind.name, option.name);
      const owned = byName.get(name) ?? [];
      byName.set(name, [...owned, { kind: kind.name, option, common: common.includes(option) }]);
    }
  }
  return [...byName].map(([name, owned]) => flagOf(name, owned)).sort((a, b) => orderOf(a) - orderOf(b));
}

/** What was given of the kind's options; flags of other kinds are passed over. */
export function flagsGiven(kind: DriverKind, { options }: CommandContext): Map<string, Given> {
  const given = new Map<string, Given>();
  for (const { name } of optionsOf(kind)) {
    const value = options[flagName(kind.name, name)];
    if (value !== undefined) given.set(name, value);
  }
  return given;
}

/**
 * What was given of the kind's options.
 * @throws UsageError for a flag of another kind.
 */
export function givenFor(kind: DriverKind, context: CommandContext): Map<string, Given> {
  const { options } = context;
  const given = flagsGiven(kind, context);
  const flags = optionsOf(kind).map(({ name }) => flagName(kind.name, name));
  const foreign = KINDS.flatMap((other) =>
    optionsOf(other).map(({ name }) => ({ flag: flagName(other.name, name), owner: other.name })),
  ).filter(({ flag }) => options[flag] !== undefined && !flags.includes(flag));
  const flag = foreign[0]?.flag;
  if (flag === undefined) return given;
  const near = nearest(flag, flags);
  const owners = foreign.filter((other) => other.flag === flag).map(({ owner }) => owner);
  throw new UsageError(`is no option of ${kind.name} desktops`, {
    where: `--${flag}`,
    hint: near ? `--${near}` : `--driver ${owners.join('|')}`,
  });
}

function flagOf(name: string, owned: Owned[]): OptionSpec {
  const [{ option, common }] = owned as [Owned, ...Owned[]];
  const same = owned.every((other) => alike(other.option, option));
  const texts = new Set(owned.map((other) => other.option.describe));
  const describe =
    texts.size === 1
      ? upper(option.describe)
      : owned.map((other) => `${other.kind}: ${lower(describeOne(other.option))}`).join('; ');
  const value = owned.every((other) => other.option.value === option.value) ? option.value : 'VALUE';
  const group = common ? REAL : `Desktops of ${owned.map(({ kind }) => kind).join(', ')}`;
  const flag = { name, describe, group, ...(value === undefined ? {} : { value }) };
  const multiple = owned.some((other) => other.option.type === 'list');
  if (!same) return { ...flag, type: 'string', ...(multiple ? { multiple } : {}) };
  const { min, max, choices } = option;
  const defaultText = texts.size === 1 && option.default !== undefined ? shownDefault(option) : undefined;
  const shown = defaultText === undefined || defaultText === 'false' ? flag : { ...flag, defaultText };
  if (option.type === 'list') return { ...shown, type: 'string', multiple: true };
  if (option.type === 'bytes') return { ...shown, type: 'string' };
  return {
    ...shown,
    type: option.type,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(choices === undefined ? {} : { choices }),
  };
}

const REAL = 'Real desktops';

/** Kinds in their order, then what several of them have, then what all have. */
function orderOf({ group = '' }: OptionSpec): number {
  if (group === REAL) return KINDS.length + 1;
  const index = KINDS.findIndex(({ name }) => group === `Desktops of ${name}`);
  return index < 0 ? KINDS.length : index;
}

function alike(a: KindOption, b: KindOption): boolean {
  return (
    (['type', 'min', 'max', 'default'] as const).every((field) => a[field] === b[field]) &&
    choicesOf(a) === choicesOf(b)
  );
}

const choicesOf = ({ choices = [] }: KindOption) => choices.join();

/** What the table cannot say of an option that means something else to each kind. */
function describeOne(option: KindOption): string {
  const { describe, choices } = option;
  const details = [
    choices ? `one of ${choices.join(', ')}` : '',
    option.default === undefined ? '' : `default ${shownDefault(option)}`,
  ];
  const text = details.filter(Boolean).join('; ');
  return text === '' ? describe : `${describe} (${text})`;
}

/** 536870912 bytes as they are given: 512m. */
function shownDefault({ type, default: otherwise }: KindOption): string {
  if (type !== 'bytes' || typeof otherwise !== 'number') return String(otherwise);
  const unit = [...'tgmk'].find((_, i) => otherwise % 2 ** (10 * (4 - i)) === 0) ?? '';
  return `${otherwise / 2 ** (10 * ['', 'k', 'm', 'g', 't'].indexOf(unit))}${unit}`;
}

function upper(text: string): string {
  // Neither a name (noVNC) nor a word before a colon begins with a capital.
  return /^[a-z]+(?![a-zA-Z:])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

function lower(text: string): string {
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
