import { Fields } from '../../fields.ts';
import type { Metric } from '../../kinds.ts';
import { resultFile } from '../input.ts';
import { AgentFault, Books } from './books.ts';
import { compareCities } from './cities.ts';
import { compareCsv } from './csv.ts';
import { dataRules } from './data_rules.ts';
import { featureRules } from './feature_rules.ts';
import { objectRules } from './object_rules.ts';
import { styleRules } from './style_rules.ts';

type TableRule = (rule: Fields, books: Books) => boolean;
const RULES: Record<string, TableRule> = { ...dataRules, ...objectRules, ...styleRules, ...featureRules };

/** 1 when the result, a spreadsheet, meets every one of `rules`, alone or beside the expected one. */
const compareTable: Metric = (input) => {
  const result = resultFile(input);
  const rules = input.options.list('rules').map((rule) => new Fields(`rule of ${input.name}`, input.where, rule));
  const tests = rules.map((rule) => {
    const type = rule.text('type');
    const test = RULES[type];
    if (test === undefined) throw rule.wrong('type', `one of ${Object.keys(RULES).join(', ')}`);
    return { rule, test };
  });
  if (result === null) return 0;
  try {
    const books = new Books(result, input);
    return Number(tests.every(({ rule, test }) => test(rule, books)));
  } catch (error) {
    if (error instanceof AgentFault) return 0;
    throw error;
  }
};

/** The metrics of spreadsheets. */
export const sheetMetrics: Record<string, Metric> = {
  compare_table: compareTable,
  compare_csv: compareCsv,
  compare_conference_city_in_order: compareCities,
};
