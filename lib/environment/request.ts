import { DartError } from '../errors.ts';
import type { ProtocolWaits } from './environment.ts';
import type { DriverKind, KindValues } from './kind.ts';
import { kindNamed, optionsOf, startsOf } from './kinds.ts';
import { type Given, valuesOf } from './values.ts';

/** So many desktops of one kind: what `--env` or the flags of `dart-env up` ask for. */
export interface DesktopRequest {
  kind: DriverKind;
  /** How many are leased at once. */
  count: number;
  /** Of its own options and the common ones. */
  values: KindValues;
  /** Instead of the kind's own, where they were given. */
  waits: Partial<ProtocolWaits>;
  /** How many boot ahead. */
  spares: number;
  /** How many boot at once. */
  starts: number;
}

const EXAMPLE = 'embedded:4, or docker:8,spares=2';
const MAX_COUNT = 10_000;

/**
 * `KIND:N[,option=value…]` in parts; `attach:URL[,URL…][,option=value…]` for desktops that run already. An option that
 * may be repeated is given several times; a switch needs no value.
 * @throws DartError on an unknown kind or option, a count below 1, and a value that does not fit.
 */
export function parseDesktops(spec: string): DesktopRequest {
  const colon = spec.indexOf(':');
  const comma = spec.indexOf(',');
  const end = colon < 0 || (comma >= 0 && comma < colon) ? comma : colon;
  const kind = kindNamed(end < 0 ? spec : spec.slice(0, end), '--env');
  const items = colon === end && end >= 0 ? spec.slice(end + 1).split(',') : [''];
  const given = new Map<string, Given>();
  let count = 0;
  if (kind.name === 'attach') {
    const urls = items.filter(isUrl);
    given.set('url', urls);
    count = urls.length;
    // In a URL may be a token: nothing of it is repeated in a message.
    if (count === 0)
      throw new DartError('attach names no desktop', { where: '--env', hint: 'attach:http://127.0.0.1:5000' });
  } else {
    count = countOf(kind.name, items.shift() ?? '');
  }
  for (const item of items) if (kind.name !== 'attach' || !isUrl(item)) addOption(kind, item, given);
  return desktopRequest(kind, count, given, (name) => `--env ${kind.name}, ${name}`);
}

/** A request from values by option name; see `valuesOf`. */
export function desktopRequest(
  kind: DriverKind,
  count: number,
  given: ReadonlyMap<string, Given>,
  placeOf: (name: string) => string,
): DesktopRequest {
  const values = valuesOf(optionsOf(kind), given, placeOf);
  const boots = optionsOf(kind).some(({ name }) => name === 'parallel');
  const waits: Partial<ProtocolWaits> = {};
  for (const [field, name] of WAIT_OPTIONS) {
    if (values[name] !== undefined) waits[field] = (values[name] as number) * 1000;
  }
  return {
    ...{ kind, count, values, waits },
    spares: (values.spares as number | undefined) ?? 0,
    starts: (values.parallel as number | undefined) ?? (boots ? startsOf(kind) : Number.POSITIVE_INFINITY),
  };
}

const WAIT_OPTIONS: readonly [keyof ProtocolWaits, string][] = [
  ['afterResetMs', 'after-reset'],
  ['afterActionMs', 'after-action'],
  ['beforeEvaluateMs', 'before-evaluate'],
];

function countOf(kind: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : null;
  if (count !== null && count >= 1 && count <= MAX_COUNT) return count;
  const given = text === '' ? kind : `${kind}:${text}`;
  if (count !== null) {
    throw new DartError(`expected 1 to ${MAX_COUNT} desktops but received "${given}"`, {
      where: '--env',
      hint: EXAMPLE,
    });
  }
  throw new DartError(`"${given}" does not say how many desktops`, { where: '--env', hint: EXAMPLE });
}

function addOption(kind: DriverKind, item: string, given: Map<string, Given>): void {
  const equals = item.indexOf('=');
  const name = equals < 0 ? item : item.slice(0, equals);
  const option = optionsOf(kind).find((candidate) => candidate.name === name);
  const names = optionsOf(kind).map((candidate) => candidate.name);
  if (!option) {
    throw new DartError(`${kind.name} has no option "${name}"`, { where: '--env', hint: names.join(', ') });
  }
  if (equals < 0 && option.type !== 'boolean') {
    throw new DartError(`"${name}" needs a value`, { where: '--env', hint: `${name}=${option.value ?? 'VALUE'}` });
  }
  const value = equals < 0 ? 'true' : item.slice(equals + 1);
  if (option.type === 'list') {
    given.set(name, [...((given.get(name) as readonly string[] | undefined) ?? []), value]);
    return;
  }
  if (given.has(name)) throw new DartError(`"${name}" is given twice`, { where: '--env', hint: 'one value' });
  given.set(name, value);
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}
