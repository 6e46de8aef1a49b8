import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import type { DartError } from '../../../errors.ts';
import type { FetchedFile, Fidelity } from '../../context.ts';
import { Fields } from '../../fields.ts';
import { METRICS } from '../index.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/documents/sheets');
const CSVS = readdirSync(FOLDER).filter((name) => name.endsWith('.csv'));

interface Pair {
  metric: string;
  result: string;
  expected: unknown;
  options: { rules?: { type: string }[] };
  score: number | 'raises';
}
const GOLDEN: { pairs: Pair[] } = JSON.parse(readFileSync(join(FOLDER, 'golden.json'), 'utf8'));

function file(name: string): FetchedFile {
  const beside = CSVS.filter((csv) => csv !== name).map((csv) => ({
    name: csv,
    bytes: readFileSync(join(FOLDER, csv)),
  }));
  return { name, bytes: readFileSync(join(FOLDER, name)), beside };
}

function score(metric: string, result: FetchedFile | null, expected: unknown, options: object, fidelity?: Fidelity) {
  const wanted = typeof expected === 'string' ? file(expected) : (expected ?? undefined);
  const fields = new Fields('options', 't1', options);
  return METRICS.get(metric)!({ result, expected: wanted, options: fields, name: metric, where: 't1', fidelity });
}

const table = (result: string, expected: string | null, rule: object, fidelity?: Fidelity) =>
  score('compare_table', file(result), expected, { rules: [rule] }, fidelity);

const SHEETS = { sheet_idx0: 0, sheet_idx1: 'EI0' };

/** A workbook of one sheet with these rows of XML. */
function workbook(rows: string, { styles = '', rest = '', id = 1 } = {}): FetchedFile {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const rel = (to: string, kind: string) =>
    `<Relationships><Relationship Id="r1" Type="${office}/${kind}" Target="${to}"/></Relationships>`;
  const parts = {
    '_rels/.rels': rel('xl/workbook.xml', 'officeDocument'),
    'xl/workbook.xml': `<workbook><sheets><sheet name="Sheet1" sheetId="${id}" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': rel('worksheets/sheet1.xml', 'worksheet'),
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData>${rest}</worksheet>`,
    'xl/styles.xml': `<styleSheet>${styles}</styleSheet>`,
  };
  const bytes = zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)])));
  return { name: 'made.xlsx', bytes };
}

const cellRow = (row: number, ...cells: string[]) => `<row r="${row}">${cells.join('')}</row>`;
const number = (at: string, value: number) => `<c r="${at}"><v>${value}</v></c>`;
const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
const made = (result: FetchedFile, rule: object, expected: FetchedFile | null = null, fidelity?: Fidelity) =>
  score('compare_table', result, expected, { rules: [rule] }, fidelity);

describe('spreadsheets', () => {
  it.each(
    GOLDEN.pairs.map(
      (pair, index) => [index, `${pair.options.rules?.[0]?.type ?? pair.metric} ${pair.result}`, pair] as const,
    ),
  )('score as in OSWorld: %i %s', async (_index, _title, pair) => {
    const ours = async () => score(pair.metric, file(pair.result), pair.expected, pair.options);
    // Where OSWorld breaks, the agent's file is at fault (0) or the task's (an error): no score is made of it.
    const outcome = await ours().catch((error: DartError) => error.name);
    if (pair.score === 'raises') expect([0, 'DartError']).toContain(outcome);
    else expect(outcome).toBe(pair.score);
  });

  it('have both a hit and a miss for every rule among those pairs', () => {
    const kinds = new Set(GOLDEN.pairs.map((pair) => pair.options.rules?.[0]?.type ?? pair.metric));
    const has = (kind: string, wanted: number) =>
      GOLDEN.pairs.some((pair) => (pair.options.rules?.[0]?.type ?? pair.metric) === kind && pair.score === wanted);
    expect([...kinds].filter((kind) => !has(kind, 1))).toEqual([]);
    expect([...kinds].filter((kind) => !has(kind, 0))).toEqual([]);
    expect(kinds.size).toBe(17);
  });

  it('give 0 for what the agent left missing or broken', async () => {
    const rule = { type: 'sheet_data', ...SHEETS };
    expect(await score('compare_table', null, 'data.xlsx', { rules: [rule] })).toBe(0);
    const bytes = Buffer.from('no zip');
    expect(await score('compare_table', { name: 'data.xlsx', bytes }, 'data.xlsx', { rules: [rule] })).toBe(0);
    const cut = readFileSync(join(FOLDER, 'data.xlsx')).subarray(0, 3000);
    expect(await score('compare_table', { name: 'data.xlsx', bytes: cut }, 'data.xlsx', { rules: [rule] })).toBe(0);
    expect(await table('data.xlsx', 'data.xlsx', { type: 'sheet_data', sheet_idx0: 'RNNone', sheet_idx1: 'EI0' })).toBe(
      0,
    );
    expect(await score('compare_csv', null, 'data-Table.csv', {})).toBe(0);
    expect(await score('compare_conference_city_in_order', null, { expected: [] }, {})).toBe(0);
  });

  it('blame the task for too few cities', async () => {
    const compare = async () => score('compare_conference_city_in_order', file('cities.xlsx'), { expected: ['a'] }, {});
    await expect(compare()).rejects.toThrow('expected should be 21 cities');
  });

  it.each([
    [{ type: 'sheet_dat' }, 'rule of compare_table: type should be one of sheet_name'],
    [{ type: 'sheet_data', sheet_idx0: 'X1', sheet_idx1: 'EI0' }, 'sheet_idx0 should be a number, RI0, RNname'],
    [{ type: 'sheet_data', sheet_idx0: 0, sheet_idx1: 'ENNone' }, 'the expected file data.xlsx has no sheet "None"'],
    [{ type: 'zoom', sheet_idx: 0, method: 'near', ref: 1 }, 'unknown method near'],
    [{ type: 'zoom', sheet_idx: 0, method: 'eq' }, 'ref should be there, but is missing'],
    [{ type: 'zoom', sheet_idx: 0, method: 'lt', ref: [1] }, 'ref should be a number or a text'],
    [{ type: 'zoom', sheet_idx: 0, method: 'approx:near', ref: 1 }, 'method should be approx:0.1'],
    [{ type: 'zoom', sheet_idx: 0, method: 'range.te', ref: [1] }, 'ref should be two numbers'],
    [{ type: 'zoom', sheet_idx: 0, method: 're', ref: '(' }, 'ref should be a pattern'],
    [{ type: 'style', ...SHEETS, props: ['colour'] }, 'props should be some of number_format'],
    [{ type: 'sheet_fuzzy', ...SHEETS, rules: [{ range: ['A1'], type: 'like' }] }, 'type should be includes'],
  ])('blame the task for %j', async (rule, message) => {
    const error = await (async () => table('data.xlsx', 'data.xlsx', rule))().catch((caught: DartError) => caught);
    expect((error as DartError).message).toContain(message);
    expect((error as DartError).where).toBe('t1');
  });

  it('blame the task for an expected file that is missing or broken', async () => {
    const rule = { type: 'sheet_data', ...SHEETS };
    await expect(async () => table('data.xlsx', null, rule)).rejects.toThrow('the task gives none');
    const broken = { name: 'gold.xlsx', bytes: Buffer.from('x') };
    await expect(async () => made(file('data.xlsx'), rule, broken)).rejects.toThrow('gold.xlsx cannot be compared');
    const alone = { ...file('data.xlsx'), beside: [] };
    await expect(async () => made(file('data.xlsx'), { type: 'sheet_print', ...SHEETS }, alone)).rejects.toThrow(
      'there is no data-Table.csv beside the expected file',
    );
  });

  it('tell numbers from texts by the whole column, as pandas does', async () => {
    const column = (...cells: string[]) =>
      workbook(cellRow(1, text('A1', 'n')) + cells.map((c, i) => cellRow(i + 2, c)).join(''));
    const rule = { type: 'sheet_data', ...SHEETS };
    const numbers = column(number('A2', 1), number('A3', 2));
    expect(await made(column(text('A2', '1'), text('A3', '2')), rule, numbers)).toBe(1);
    expect(await made(column(text('A2', '1.0'), text('A3', '2')), rule, numbers)).toBe(0);
    expect(
      await made(column(number('A2', 1), text('A3', 'NA')), rule, column(number('A2', 1), text('A3', 'nan'))),
    ).toBe(1);
    expect(await made(column(number('A2', 0.00004)), rule, column(number('A2', 0.00003)))).toBe(1);
    expect(await made(column(number('A2', 0.00004)), rule, column(number('A2', 0)))).toBe(0);
  });
});

const FORMAT_STYLES =
  '<fonts><font><color theme="1"/></font></fonts><fills><fill/></fills><cellXfs><xf/></cellXfs>' +
  '<dxfs><dxf><fill><patternFill><bgColor rgb="FFFF0000"/></patternFill></fill></dxf></dxfs>';

/** A column of numbers from A2 (A1 is a heading) with a conditional format that makes cells red. */
function formatted(formula: string, type = 'expression', extra = ''): FetchedFile {
  const rows = cellRow(1, text('A1', 'n')) + [5, 9, 7].map((n, i) => cellRow(i + 2, number(`A${i + 2}`, n))).join('');
  const rule = `<cfRule type="${type}" dxfId="0" priority="1" ${extra}>${formula && `<formula>${formula}</formula>`}</cfRule>`;
  return workbook(rows, {
    styles: FORMAT_STYLES,
    rest: `<conditionalFormatting sqref="A2:A4">${rule}</conditionalFormatting>`,
  });
}

describe('a workbook that breaks its own comparison', () => {
  const rule = { type: 'style', ...SHEETS, props: ['font_color'] };
  const colored = (color: string) =>
    workbook(cellRow(1, number('A1', 1)), { styles: `<fonts><font>${color}</font></fonts><cellXfs><xf/></cellXfs>` });
  const black = colored('<color rgb="FF000000"/>');

  it('is 0 for the agent, an error for the task', async () => {
    expect(await made(black, rule, black)).toBe(1);
    expect(await made(colored(''), rule, black)).toBe(0);
    await expect(async () => made(colored(''), rule, colored(''))).rejects.toThrow('a style has no colour');
    expect(await made(colored(''), rule, black, 'strict')).toBe(1);
  });
});

describe('conditional formats', () => {
  const rule = { type: 'style', ...SHEETS, props: ['bgcolor'] };
  const greatest = formatted('A2=MAX($A$2:$A$4)');

  it.each([
    ['A2&gt;8', 1],
    ['A2&gt;6', 0],
    ['AND(A2&gt;7,ISNUMBER(A2))', 1],
    ['A2=LARGE($A$2:$A$4,1)', 1],
    ['WEEKDAY(A2)=2', 1],
    ['MOD(A2,3)=0', 1],
    ['A2=AVERAGE($A$2:$A$4)', 0],
  ])('%s', async (formula, wanted) => {
    expect(await made(formatted(formula), rule, greatest)).toBe(wanted);
    expect(await made(formatted(formula), rule, greatest, 'strict')).toBe(wanted);
  });

  it('compare values with one or two others', async () => {
    expect(await made(formatted('8', 'cellIs', 'operator="greaterThan"'), rule, greatest)).toBe(1);
    expect(await made(formatted('8', 'cellIs', 'operator="lessThan"'), rule, greatest)).toBe(0);
  });

  it('name a function that is not known, never guess', async () => {
    await expect(async () => made(formatted('SUMPRODUCT(A2)=1'), rule, greatest)).rejects.toThrow(
      'the function SUMPRODUCT',
    );
    await expect(async () => made(formatted('Sheet2!A2=1'), rule, greatest)).rejects.toThrow('a part of the formula');
  });

  it('take an error for true, and a cell for the first reference, only where OSWorld is verified', async () => {
    const error = formatted('SEARCH("x",A2)');
    expect(await made(error, rule, formatted('A2&gt;0'))).toBe(1);
    expect(await made(error, rule, formatted('A2&gt;99'), 'strict')).toBe(1);
    // With $A$2 for the first reference Excel makes no cell red; OSWorld breaks on it.
    expect(await made(formatted('$A$2&gt;8'), rule, formatted('A2&gt;99'))).toBe(0);
    expect(await made(formatted('$A$2&gt;8'), rule, formatted('A2&gt;99'), 'strict')).toBe(1);
  });
});

describe('repairs of --protocol strict', () => {
  it('finds a sheet by its part, not by its number', async () => {
    const moved = workbook(cellRow(1, number('A1', 3)), { id: 7 });
    const rule = { type: 'check_cell', sheet_idx: 0, coordinate: 'A1', props: { value: { method: 'eq', ref: 3 } } };
    expect(await made(moved, rule)).toBe(0);
    expect(await made(moved, rule, null, 'strict')).toBe(1);
  });

  it('reads truth values, and blanks around texts', async () => {
    const cells = workbook(cellRow(1, '<c r="A1" t="b"><v>1</v></c>', '<c r="B1" t="str"><v> a</v></c>'));
    const rule = (coordinate: string, ref: unknown) => ({
      type: 'check_cell',
      sheet_idx: 0,
      coordinate,
      props: { value: { method: 'eq', ref } },
    });
    expect(await made(cells, rule('A1', true))).toBe(0);
    expect(await made(cells, rule('A1', true), null, 'strict')).toBe(1);
    expect(await made(cells, rule('B1', 'a'))).toBe(1);
    expect(await made(cells, rule('B1', ' a'), null, 'strict')).toBe(1);
  });

  it('tells colours of the theme apart', async () => {
    const styled = (color: string) =>
      workbook(cellRow(1, number('A1', 1)), {
        styles: `<fonts><font><color ${color}/></font></fonts><cellXfs><xf/></cellXfs>`,
      });
    const rule = { type: 'style', ...SHEETS, props: ['font_color'] };
    expect(await made(styled('indexed="10"'), rule, styled('indexed="12"'))).toBe(1);
    expect(await made(styled('indexed="10"'), rule, styled('indexed="12"'), 'strict')).toBe(0);
    expect(await made(styled('indexed="10"'), rule, styled('rgb="FFFF0000"'), 'strict')).toBe(1);
  });

  it('honours ignore_case of sheet_data, and the first row of an anchor', async () => {
    const rule = { type: 'sheet_data', sheet_idx0: 0, sheet_idx1: 'EI0', ignore_case: true };
    expect(await table('data_case.xlsx', 'data.xlsx', rule)).toBe(0);
    expect(await table('data_case.xlsx', 'data.xlsx', rule, 'strict')).toBe(1);
  });

  it('keeps its documents', () => {
    const named = GOLDEN.pairs.flatMap(({ result, expected }) => [
      result,
      ...(typeof expected === 'string' ? [expected] : []),
    ]);
    expect(named.filter((name) => !existsSync(join(FOLDER, name)))).toEqual([]);
  });
});
