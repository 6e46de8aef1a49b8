import { DartError } from '../../errors.ts';
import { type FetchedFile, isFile } from '../context.ts';
import { Fields } from '../fields.ts';
import type { MetricInput } from '../kinds.ts';

/** The rules of an `expected` getter of type `rule`. */
export function rulesOf(input: MetricInput): Fields {
  if (typeof input.expected !== 'object' || input.expected === null) {
    throw new DartError(`metric ${input.name} needs rules, but the task has none`, { where: input.where });
  }
  const rules = new Fields(`rules of ${input.name}`, input.where, input.expected);
  if (!Array.isArray(input.expected)) return rules;
  throw new DartError(`${rules.owner} should be an object, but are a list`, { where: input.where });
}

/** The rules of a metric that asks nothing unless one of these is there: a misspelt one would let everything pass. */
export function rulesWith(input: MetricInput, ...names: readonly string[]): Fields {
  const rules = rulesOf(input);
  if (names.some((name) => rules.has(name))) return rules;
  throw new DartError(`${rules.owner} have neither ${names.join(' nor ')}`, { where: input.where });
}

/** The rule of that name, of whatever kind; a task without it is an error. */
export function ruleOf(input: MetricInput, name: string): unknown {
  const rules = rulesOf(input);
  if (rules.values[name] === undefined) throw rules.wrong(name, 'there');
  return rules.values[name];
}

/** The file that the result getter brought; null when there was none. */
export function resultFile(input: MetricInput): FetchedFile | null {
  if (input.result === null || input.result === undefined) return null;
  if (isFile(input.result)) return input.result;
  throw new DartError(`metric ${input.name} needs a file as its result`, { where: input.where });
}

/** Text of the result file; null when there was none. */
export function resultText(input: MetricInput): string | null {
  const file = resultFile(input);
  return file === null ? null : decode(file);
}

/** The expected file or files; none is an error of the task. */
export function expectedFiles(input: MetricInput): FetchedFile[] {
  const files = Array.isArray(input.expected) ? input.expected : [input.expected];
  if (files.length > 0 && files.every(isFile)) return files;
  throw new DartError(`metric ${input.name} needs an expected file, but the task gives none`, { where: input.where });
}

/** UTF-8 text, with Python's universal line ends. */
export function decode(file: FetchedFile): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.bytes).replace(/\r\n?/g, '\n');
}

/** Lines without their ends; none after a final newline (Python's `splitlines`). */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The result file as JSON; undefined when it is missing or broken, which is the agent's doing. */
export function resultJson(input: MetricInput): unknown {
  const text = resultText(input);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
