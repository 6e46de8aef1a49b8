import { ELEMENTWISE } from './elementwise.ts';
import { INDEXING } from './indexing.ts';
import { LAYOUT } from './layout.ts';
import { LINEAR } from './linear.ts';
import { NORMALISE } from './normalise.ts';
import type { Operator } from './operator.ts';
import { STILL } from './still.ts';

const OPERATORS = new Map<string, Operator>(
  Object.entries({ ...ELEMENTWISE, ...LINEAR, ...NORMALISE, ...LAYOUT, ...INDEXING, ...STILL }),
);

/** Undefined for operators that are not known here, and for those of other domains. */
export function operatorOf(op: string, domain: string): Operator | undefined {
  return domain === '' ? OPERATORS.get(op) : undefined;
}

/** Names of all operators that a gradient can pass. */
export function differentiableOperators(): string[] {
  return [...OPERATORS]
    .filter(([, operator]) => operator.gradient !== null)
    .map(([name]) => name)
    .sort();
}
