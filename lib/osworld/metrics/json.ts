import { Fields } from '../fields.ts';
import type { Metric, MetricInput } from '../kinds.ts';
import { equal, isRecord, matchesRule } from '../rules.ts';
import { resultJson, resultText, rulesOf, rulesWith } from './input.ts';

/**
 * Rules `{key: [path], method, ref}` on a JSON file, or with `is_yaml` a YAML file: all of `expect` hold, none of
 * `unexpect`. A missing key fails an `expect`; for an `unexpect` its value is null.
 */
const checkJson: Metric = async (input) => {
  const rules = rulesWith(input, 'expect', 'unexpect');
  const data = input.options.flag('is_yaml') ? await yamlResult(input) : resultJson(input);
  if (data === undefined) return 0;
  const holds = (rule: unknown, missing: boolean): boolean => {
    const value = at(data, new Fields(`a rule of ${input.name}`, input.where, rule).list('key'));
    if (value === undefined && !missing) return false;
    return matchesRule(value ?? null, rule, input.name, input.where);
  };
  const isMet = rules.list('expect', []).every((rule) => holds(rule, false));
  return Number(isMet && !rules.list('unexpect', []).some((rule) => holds(rule, true)));
};

/** YAML as PyYAML reads it (1.1: `no` is false); undefined where it is missing, broken or empty. */
async function yamlResult(input: MetricInput): Promise<unknown> {
  const text = resultText(input);
  if (text === null) return undefined;
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(text, { version: '1.1', uniqueKeys: false });
  const [first, second] = Array.isArray(documents) ? documents : [];
  if (first === undefined || second !== undefined || first.errors.length > 0) return undefined;
  try {
    return first.toJS() ?? undefined;
  } catch {
    return undefined;
  }
}

function at(data: unknown, path: unknown[]): unknown {
  let value = data;
  for (const key of path) {
    if (Array.isArray(value) && typeof key === 'number') value = value.at(key);
    else if (isRecord(value)) value = value[String(key)];
    else return undefined;
  }
  return value;
}

/** Every key of `expected` has the same value in the JSON file. */
const checkJsonSettings: Metric = (input) => {
  const expected = Object.entries(rulesOf(input).object('expected'));
  const data = resultJson(input);
  return Number(isRecord(data) && expected.every(([key, value]) => equal(data[key], value)));
};

/** The JSON list in the file (its first line may be a comment) has the member `expected`. */
const checkKeybindings: Metric = (input) => {
  const expected = rulesOf(input).object('expected');
  const text = resultText(input);
  if (text === null) return 0;
  const data = parsed(text) ?? parsed(text.slice(text.indexOf('\n') + 1));
  return Number(Array.isArray(data) && data.some((item) => equal(item, expected)));
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The file is JSON that has all of `expected` in it, at any depth, or a text that holds it. With `containment_ok: false`
 * the texts are equal, or the values of the JSON in them.
 */
const compareConfig: Metric = (input) => {
  const expected = rulesOf(input).text('expected');
  const text = resultText(input);
  if (!expected || text === null) return 0;
  const [found, wanted] = [parsed(text), parsed(expected)];
  const areJson = found !== undefined && wanted !== undefined;
  const { containment_ok: isLoose = true } = input.options.values;
  if (!isLoose) return Number(text === expected || (areJson && equal(found, wanted)));
  return Number(areJson ? hasAll(found, wanted) : text.includes(expected.trim()));
};

/** Objects may have more keys than wanted; everything else is equal. */
function hasAll(found: unknown, wanted: unknown): boolean {
  if (!isRecord(wanted)) return equal(found, wanted);
  return isRecord(found) && Object.entries(wanted).every(([key, value]) => key in found && hasAll(found[key], value));
}

/**
 * Every key of `expected` has the same value in the result, an object or its text (with ' for "). With
 * `expect_in_result`, a string must be a part of the value, and one member of a list must be in it. `ignore_list_order`
 * beside `expected` counts with `strict` only: OSWorld never reads it.
 */
const checkDirectJson: Metric = (input) => {
  const rules = rulesOf(input);
  const expected = Object.entries(rules.object('expected'));
  const data = typeof input.result === 'string' ? parsed(input.result.trim().replaceAll("'", '"')) : input.result;
  if (!isRecord(data)) return 0;
  // What a getter of OSWorld says that could not find the expected value.
  if (expected.some(([, value]) => value === '__EVALUATION_FAILED__')) return 0;
  if (rules.flag('expect_in_result')) {
    return Number(expected.every(([key, value]) => isWithin(value, data[key], input)));
  }
  // OSWorld looks for this flag where no task has it.
  const anyOrder = input.fidelity === 'strict' && rules.flag('ignore_list_order');
  const order = (value: unknown) =>
    anyOrder && Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value;
  return Number(expected.every(([key, value]) => equal(order(data[key]), order(value))));
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
