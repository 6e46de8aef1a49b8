import { BrokenDocument } from '../broken.ts';
import { attributeOf, childOf, childrenOf, type Element } from '../xml.ts';
import { Paragraph } from './paragraph.ts';
import { oneOf, required, W, whole } from './values.ts';

/** A table on its layout grid, as python-docx sees it: a merged cell stands in every place that it covers. */
export class Table {
  /** Columns of the grid, which a row need not fill. */
  readonly columnCount: number;
  private readonly rows: Element[];
  private places: Element[] | null = null;

  /** Throws a BrokenDocument where the table has no grid. */
  constructor(element: Element) {
    const grids = childrenOf(element, W, 'tblGrid');
    if (grids.length === 0) throw new BrokenDocument('a table has no w:tblGrid');
    this.columnCount = childrenOf(grids[0]!, W, 'gridCol').length;
    this.rows = childrenOf(element, W, 'tr');
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /** Text of the cell at a place of the grid, both from 0. */
  text(row: number, column: number): string {
    this.places ??= this.fill();
    const cell = this.places[row * this.columnCount + column];
    if (cell === undefined) throw new BrokenDocument(`a table has no cell at row ${row}, column ${column}`);
    return paragraphsOf(cell)
      .map((paragraph) => paragraph.text)
      .join('\n');
  }

  /** Paragraphs of all cells, row by row; those of a merged cell as often as it covers a place. */
  get paragraphs(): Paragraph[] {
    return this.rows.flatMap((row, index) =>
      childrenOf(row, W, 'tc').flatMap((cell) => {
        const origin = this.originOf(cell, index);
        return Array.from({ length: spanOf(origin) }, () => paragraphsOf(origin)).flat();
      }),
    );
  }

  private fill(): Element[] {
    const places: Element[] = [];
    for (const cell of this.rows.flatMap((row) => childrenOf(row, W, 'tc'))) {
      for (let column = 0; column < spanOf(cell); column += 1) {
        const place = isContinued(cell) ? places.at(-this.columnCount) : cell;
        if (place === undefined) throw new BrokenDocument('a merged cell of a table has none above it');
        places.push(place);
      }
    }
    return places;
  }

  /** The cell that a vertical merge began with. */
  private originOf(cell: Element, row: number): Element {
    if (!isContinued(cell)) return cell;
    const above = this.cellAt(row - 1, this.offsetOf(cell, row));
    if (above === undefined) throw new BrokenDocument('a merged cell of a table has none above it');
    return this.originOf(above, row - 1);
  }

  private offsetOf(cell: Element, row: number): number {
    const cells = childrenOf(this.rows[row]!, W, 'tc');
    return skippedBy(this.rows[row]!) + cells.slice(0, cells.indexOf(cell)).reduce((sum, it) => sum + spanOf(it), 0);
  }

  private cellAt(row: number, offset: number): Element | undefined {
    const cells = this.rows[row] === undefined ? [] : childrenOf(this.rows[row], W, 'tc');
    return cells.find((cell) => this.offsetOf(cell, row) === offset);
  }
}

function paragraphsOf(cell: Element): Paragraph[] {
  return childrenOf(cell, W, 'p').map((paragraph) => new Paragraph(paragraph));
}

function spanOf(cell: Element): number {
  const span = cellProperty(cell, 'gridSpan');
  return span === undefined ? 1 : whole(required(span, 'val'));
}

/** True where the cell goes on with the one above it. */
function isContinued(cell: Element): boolean {
  const merge = cellProperty(cell, 'vMerge');
  if (merge === undefined) return false;
  return oneOf(attributeOf(merge, 'val', W) ?? 'continue', ['continue', 'restart'], merge) === 'continue';
}

/** Columns of the grid that a row leaves out before its first cell. */
function skippedBy(row: Element): number {
  const properties = childOf(row, W, 'trPr');
  const before = properties && childOf(properties, W, 'gridBefore');
  return before === undefined ? 0 : whole(required(before, 'val'));
}

function cellProperty(cell: Element, name: string): Element | undefined {
  const properties = childOf(cell, W, 'tcPr');
  return properties && childOf(properties, W, name);
}
