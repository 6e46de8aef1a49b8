import { showMoment } from '../../formats/xlsx/dates.ts';
import { Workbook } from '../../formats/xlsx/workbook.ts';
import type { Column } from './column.ts';
import { frameOf } from './frame.ts';
import { isMoment, type PythonValue, showFloat } from './python.ts';

/**
 * The last row of a workbook's first sheet as texts, as pandas makes them: a row of numbers is of one type, so that
 * one float makes all of them floats. Throws an Error where the bytes are no workbook, or the sheet has no rows.
 */
export function lastRow(bytes: Uint8Array): string[] {
  const sheet = new Workbook(bytes).sheets[0];
  const frame = frameOf(sheet?.rows ?? []);
  if (frame.length === 0) throw new Error('the table has no rows');
  const isNumeric = frame.columns.every(({ type }) => ['int64', 'uint64', 'float64'].includes(type));
  const isFloat = isNumeric && frame.columns.some(({ type }) => type === 'float64');
  const texts = frame.columns.map((column) => show(column.values.at(-1) ?? null, column, isFloat));
  const areDays = frame.columns.every(({ type }, at) => type === 'datetime64' && / 00:00:00$|^NaT$/.test(texts[at]!));
  return areDays ? texts.map((text) => text.replace(/ .*/, '')) : texts;
}

function show(value: PythonValue, { type }: Column, isFloat: boolean): string {
  if (value === null) return type === 'datetime64' || type === 'timedelta64' ? 'NaT' : 'nan';
  if (isMoment(value)) return showMoment(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return value;
  return isFloat || type === 'float64' || !Number.isInteger(Number(value)) ? showFloat(Number(value)) : String(value);
}
