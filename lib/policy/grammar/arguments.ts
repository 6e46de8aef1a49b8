import { decimalOf } from './boxes.ts';
import { type Argument, type Call, GrammarError } from './call.ts';

/** The arguments of one call, by the first name of their parameter. */
export type Values = Readonly<Record<string, string | undefined>>;

/** A parameter is known by any of its names; two bare numbers are one argument where a place is due. */
export interface Parameter {
  names: readonly string[];
  place?: boolean;
}

/**
 * The arguments of a call under the first name of their parameter.
 * @throws GrammarError for an argument that the verb does not have, or has twice.
 */
export function valuesOf(call: Call, parameters: readonly Parameter[]): Values {
  const values: Record<string, string> = {};
  joinPoints(call.arguments, parameters).forEach(({ name, value }, index) => {
    const parameter = name === null ? parameters[index] : parameters.find(({ names }) => names.includes(name));
    const shown = JSON.stringify((name ?? `argument ${index + 1}`).slice(0, 40));
    if (!parameter) throw new GrammarError(`${call.verb} takes no ${shown}`);
    const key = parameter.names[0]!;
    if (values[key] !== undefined) throw new GrammarError(`${call.verb} has ${shown} twice`);
    values[key] = value;
  });
  return values;
}

/** `click(120, 48)` and `click(x=120, y=48)` mean `click((120, 48))`: where a place is due, two bare numbers are one. */
function joinPoints(given: readonly Argument[], parameters: readonly Parameter[]): Argument[] {
  const joined: Argument[] = [];
  for (let at = 0; at < given.length; at++) {
    const [argument, next] = [given[at]!, given[at + 1]];
    const isPair = argument.name === 'x' && next?.name === 'y';
    const due = isPair ? parameters[0] : parameters[joined.length];
    if (due?.place && next && (isPair || (isBareNumber(argument) && isBareNumber(next)))) {
      joined.push({ name: isPair ? due.names[0]! : null, value: `(${argument.value},${next.value})` });
      at += 1;
    } else joined.push(argument);
  }
  return joined;
}

function isBareNumber({ name, value }: Argument): boolean {
  return name === null && Number.isFinite(decimalOf(value));
}

/** @throws GrammarError where the argument was not given. */
export function required(values: Values, name: string): string {
  const value = values[name];
  if (value === undefined) throw new GrammarError(`${name} is missing`);
  return value;
}

/** @throws GrammarError for none of the choices. */
export function oneOf<const T extends string>(value: string, choices: readonly T[], name: string): T {
  const found = choices.find((choice) => choice === value.trim().toLowerCase());
  if (found) return found;
  throw new GrammarError(`${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(value.slice(0, 40))}`);
}

/** Milliseconds or seconds, whole or not, zero or more. */
export function durationOf(value: string, name: string): number {
  const number = decimalOf(value.trim());
  if (Number.isFinite(number) && number >= 0) return number;
  throw new GrammarError(`${name} is not a duration: ${JSON.stringify(value.slice(0, 40))}`);
}

/** A whole number above 0. */
export function countOf(value: string, name: string): number {
  const number = decimalOf(value.trim());
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new GrammarError(`${name} is not a whole number above 0: ${JSON.stringify(value.slice(0, 40))}`);
}
