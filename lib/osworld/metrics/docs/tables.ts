import type { Table } from '../../formats/docx/table.ts';
import type { Metric } from '../../kinds.ts';
import { strip } from './python_text.ts';
import { wordMetric } from './word_metric.ts';

/** Tables of the same number and size, and the same texts in their cells, outer blanks aside. */
const compareDocxTables = wordMetric((result, expected) => {
  const [ours, theirs] = [result.tables, expected.tables];
  return ours.length === theirs.length && ours.every((table, i) => sameCells(table, theirs[i]!));
});

function sameCells(ours: Table, theirs: Table): boolean {
  if (ours.rowCount !== theirs.rowCount || ours.columnCount !== theirs.columnCount) return false;
  for (let row = 0; row < ours.rowCount; row += 1) {
    for (let column = 0; column < ours.columnCount; column += 1) {
      if (strip(ours.text(row, column)) !== strip(theirs.text(row, column))) return false;
    }
  }
  return true;
}

export const tableMetrics: Record<string, Metric> = { compare_docx_tables: compareDocxTables };
