import { DartError } from '../../lib/errors.ts';
import type { GoldenNumber } from './compare.ts';

const shown = (value: unknown) =>
  value === undefined ? 'missing' : (JSON.stringify(value)?.slice(0, 40) ?? 'no JSON');

/** Which entries of a list are numbers: finite ones, and what else the list may hold. */
export interface Entries {
  /** `"-inf"` is an entry: an excluded logit. */
  excluded?: boolean;
  /** null, which is "not compared", may stand at these places. */
  skipped?(place: number): boolean;
  whole?: boolean;
  least?: number;
  most?: number;
}

/** The named values of one golden case; whatever is absent or of another kind is a DartError that says which and where. */
export class Fields {
  readonly where: string;
  private readonly path: string;
  private readonly json: object;

  /** `where` names file and case; `path` leads from the case to these fields. */
  constructor(json: unknown, where: string, path = '') {
    this.where = where;
    this.path = path;
    this.json = json as object;
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      this.refuse(`${path.replace(/\.$/, '') || 'the case'} is ${shown(json)}`, 'an object with named values');
  }

  refuse(what: string, hint: string): never {
    throw new DartError(what, { where: this.where, hint });
  }

  get(name: string): unknown {
    return Object.hasOwn(this.json, name) ? this.json[name as never] : undefined;
  }

  names(): string[] {
    return Object.keys(this.json);
  }

  private wrong(name: string, hint: string): never {
    return this.refuse(`${this.path}${name} is ${shown(this.get(name))}`, hint);
  }

  number(name: string, least = -Infinity, most = Infinity): number {
    const value = this.get(name);
    if (Number.isFinite(value) && (value as number) >= least && (value as number) <= most) return value as number;
    const range = [least > -Infinity && `at least ${least}`, most < Infinity && `at most ${most}`].filter(Boolean);
    return this.wrong(name, ['a number', ...range].join(', '));
  }

  positive(name: string): number {
    return this.number(name) > 0 ? this.number(name) : this.wrong(name, 'a number above 0');
  }

  text(name: string): string {
    const value = this.get(name);
    return typeof value === 'string' && value !== '' ? value : this.wrong(name, 'a text');
  }

  count(name: string): number {
    const value = this.number(name, 1);
    return Number.isSafeInteger(value) ? value : this.wrong(name, 'a whole number');
  }

  choice(name: string, among: readonly string[]): void {
    if (!among.includes(this.get(name) as string)) this.wrong(name, among.join(', '));
  }

  object(name: string): Fields {
    return new Fields(this.get(name), this.where, `${this.path}${name}.`);
  }

  /** A list of objects, at least one. */
  objects(name: string): Fields[] {
    return this.array(name, 'a list').map((item, i) => new Fields(item, this.where, `${this.path}${name}[${i}].`));
  }

  /** A list of numbers, at least one; of `length` entries where that is known. */
  list(name: string, length: number | null, entries: Entries = {}): GoldenNumber[] {
    const list = this.array(name, length === null ? 'a list of numbers' : `a list of ${length} numbers`);
    if (length !== null && list.length !== length)
      this.refuse(`${this.path}${name} has ${list.length} entries, not ${length}`, 'write every entry');
    const at = list.findIndex((value, place) => !isEntry(value, place, entries));
    if (at >= 0)
      this.refuse(
        `${this.path}${name}[${at}] is ${shown(list[at])}`,
        list[at] === null ? 'a number; null is for rows that are masked' : kindOf(entries),
      );
    return list as GoldenNumber[];
  }

  private array(name: string, hint: string): unknown[] {
    const list = this.get(name);
    if (!Array.isArray(list)) return this.wrong(name, hint);
    return list.length > 0 ? list : this.refuse(`${this.path}${name} is empty: there is nothing to compare`, hint);
  }
}

function isEntry(value: unknown, place: number, { excluded, skipped, whole, least, most }: Entries): boolean {
  if (value === null) return skipped?.(place) ?? false;
  if (value === '-inf') return excluded ?? false;
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  return (!whole || Number.isInteger(value)) && value >= (least ?? value) && value <= (most ?? value);
}

function kindOf({ excluded, whole, least, most }: Entries): string {
  const range = least === undefined ? '' : most === undefined ? ` from ${least} on` : ` from ${least} to ${most}`;
  return `a ${whole ? 'whole ' : ''}number${range}${excluded ? ', or "-inf"' : ''}`;
}
