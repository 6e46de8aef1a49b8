import { DartError } from '../../errors.ts';
import { Fields } from '../fields.ts';
import type { Metric, MetricInput } from '../kinds.ts';
import { equal, isRecord, matchesRule } from '../rules.ts';
import { resultJson, resultText, rulesOf } from './input.ts';

/** Rules `{key: [path], method, ref}`: all of `expect` hold, none of `unexpect`. A missing key fails an `expect`. */
const checkJson: Metric = (input) => {
  if (input.options.flag('is_yaml')) {
    throw new DartError(`metric ${input.name}: YAML files are not supported`, { where: input.where });
  }
  const data = resultJson(input);
  if (data === undefined) return 0;
  const rules = rulesOf(input);
  const holds = (rule: unknown): boolean => {
    const value = at(data, new Fields(`a rule of ${input.name}`, input.where, rule).list('key'));
    return value !== undefined && matchesRule(value, rule, input.name, input.where);
  };
  return Number(rules.list('expect', []).every(holds) && !rules.list('unexpect', []).some(holds));
};

function at(data: unknown, path: unknown[]): unknown {
  let value = data;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isRecord(value)) value = value[String(key)];
    else return undefined;
  }
  return value;
}

/** Every key of `expected` has the same value in the JSON file. */
const checkJsonSettings: Metric = (input) => {
  const data = resultJson(input);
  if (!isRecord(data)) return 0;
  return Number(Object.entries(rulesOf(input).object('expected')).every(([key, value]) => equal(data[key], value)));
};

/** The JSON list in the file (its first line may be a comment) has the member `expected`. */
const checkKeybindings: Metric = (input) => {
  const text = resultText(input);
  if (text === null) return 0;
  const data = parsed(text) ?? parsed(text.slice(text.indexOf('\n') + 1));
  const expected = rulesOf(input).object('expected');
  return Number(Array.isArray(data) && data.some((item) => equal(item, expected)));
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text equals `expected`; with option `containment_ok` also JSON that holds all its keys, or text that holds it. */
const compareConfig: Metric = (input) => {
  const text = resultText(input);
  if (text === null) return 0;
  const expected = rulesOf(input).text('expected');
  if (text === expected) return 1;
  if (!input.options.flag('containment_ok')) return 0;
  const [found, wanted] = [parsed(text), parsed(expected)];
  if (isRecord(found) && isRecord(wanted)) {
    return Number(Object.entries(wanted).every(([key, value]) => equal(found[key], value)));
  }
  return Number(text.includes(expected.trim()));
};

/**
 * Every key of `expected` has the same value in the result, an object or its text (with ' for "). With
 * `expect_in_result`, a string must be a part of the value, and one member of a list must be in it.
 */
const checkDirectJson: Metric = (input) => {
  const data = typeof input.result === 'string' ? parsed(input.result.trim().replaceAll("'", '"')) : input.result;
  if (!isRecord(data)) return 0;
  const rules = rulesOf(input);
  const expected = Object.entries(rules.object('expected'));
  if (rules.flag('expect_in_result')) {
    return Number(expected.every(([key, value]) => isWithin(value, data[key], input)));
  }
  return Number(expected.every(([key, value]) => equal(data[key], value)));
};

function isWithin(wanted: unknown, value: unknown, input: MetricInput): boolean {
  if (Array.isArray(wanted)) {
    const found = Array.isArray(value) ? value : [value];
    return wanted.some((item) => found.some((member) => equal(member, item)));
  }
  if (typeof wanted !== 'string') throw rulesOf(input).wrong('expected', 'an object of strings and lists');
  if (Array.isArray(value)) return value.includes(wanted);
  return typeof value === 'string' && value.includes(wanted);
}

export const jsonMetrics: Record<string, Metric> = {
  check_json: checkJson,
  check_json_settings: checkJsonSettings,
  check_json_keybindings: checkKeybindings,
  compare_config: compareConfig,
  check_direct_json_object: checkDirectJson,
};
