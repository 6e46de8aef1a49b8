import { DartError } from '../errors.ts';
import { asBoolean } from './task.ts';

/**
 * Typed reading of the loose objects in task files. `owner` names the step, getter or metric in the message.
 */
export class Fields {
  readonly owner: string;
  readonly where: string;
  readonly values: Record<string, unknown>;

  constructor(owner: string, where: string, values: unknown) {
    this.owner = owner;
    this.where = where;
    this.values = (typeof values === 'object' && values !== null ? values : {}) as Record<string, unknown>;
  }

  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null;
  }

  text(name: string, fallback?: string): string {
    const value = this.values[name];
    if (typeof value === 'string') return value;
    if (value === undefined && fallback !== undefined) return fallback;
    throw this.wrong(name, 'a string');
  }

  number(name: string, fallback?: number): number {
    const value = this.values[name];
    if (typeof value === 'number') return value;
    if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
    if (value === undefined && fallback !== undefined) return fallback;
    throw this.wrong(name, 'a number');
  }

  flag(name: string): boolean {
    return asBoolean(this.values[name]);
  }

  /** A list of strings; a missing field is `fallback`, one string is a list of one. */
  texts(name: string, fallback?: string[]): string[] {
    const value = this.values[name];
    if (typeof value === 'string') return [value];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    if (value === undefined && fallback !== undefined) return fallback;
    throw this.wrong(name, 'a list of strings');
  }

  list(name: string, fallback?: unknown[]): unknown[] {
    const value = this.values[name];
    if (Array.isArray(value)) return value;
    if (value === undefined && fallback !== undefined) return fallback;
    throw this.wrong(name, 'a list');
  }

  object(name: string, fallback?: Record<string, unknown>): Record<string, unknown> {
    const value = this.values[name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    if (value === undefined && fallback !== undefined) return fallback;
    throw this.wrong(name, 'an object');
  }

  /** A command as OSWorld writes it: a string or a list of strings. */
  command(name = 'command'): string | string[] {
    const value = this.values[name];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.map(String);
    throw this.wrong(name, 'a string or a list of strings');
  }

  wrong(name: string, expected: string): DartError {
    const found = this.values[name] === undefined ? 'missing' : `${JSON.stringify(this.values[name])}`.slice(0, 80);
    return new DartError(`${this.owner}: ${name} should be ${expected}, but is ${found}`, { where: this.where });
  }
}

/** The options of a metric. @throws DartError for what is no object: it would be ignored, and the default scored. */
export function optionsOf(metric: string, where: string, values: unknown): Fields {
  const owner = `options of ${metric}`;
  if (typeof (values ?? {}) === 'object' && !Array.isArray(values)) return new Fields(owner, where, values ?? {});
  throw new DartError(`${owner} should be an object, but are ${JSON.stringify(values).slice(0, 80)}`, { where });
}
