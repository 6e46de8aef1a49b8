import type { KindValues } from '../kind.ts';
import { valuesOf } from '../values.ts';
import { dockerKind } from './kind.ts';

/** The kind's options: these, and the defaults. */
export function dockerValues(given: Record<string, string | number | boolean> = {}): KindValues {
  return valuesOf(dockerKind.options, new Map(Object.entries(given)), (name) => name);
}
