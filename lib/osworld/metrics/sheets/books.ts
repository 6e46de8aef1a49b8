import { DartError, messageOf } from '../../../errors.ts';
import type { FetchedFile } from '../../context.ts';
import { Workbook, type Worksheet } from '../../formats/xlsx/workbook.ts';
import type { MetricInput } from '../../kinds.ts';
import { expectedFiles } from '../input.ts';

/** One of the two spreadsheets of a comparison. */
export interface Book {
  file: FetchedFile;
  workbook: Workbook;
  isResult: boolean;
}

/** A sheet that a rule names: of which book, by which name (`''` where its number leads nowhere). */
export interface Target {
  book: Book;
  name: string;
}

/** What the agent left cannot be read as the rule wants: the score is 0. */
export class AgentFault extends Error {}

/** Both spreadsheets, and how rules point at their sheets. */
export class Books {
  readonly isStrict: boolean;
  private readonly result: Book;
  private readonly expected: Book | null;
  private readonly input: MetricInput;

  /** Throws an AgentFault where the result is no spreadsheet, a DartError where the expected file is none. */
  constructor(result: FetchedFile, input: MetricInput) {
    this.input = input;
    this.isStrict = input.fidelity === 'strict';
    const hasExpected = input.expected !== undefined && input.expected !== null;
    // First, since it must be in order whatever the agent left.
    this.expected = hasExpected ? open(expectedFiles(input)[0]!, false, this) : null;
    this.result = open(result, true, this);
  }

  /** The sheet of `0` or `RI0` (the result's first), `RNname`, `EI0` (the expected file's first), `ENname`. */
  target(index: unknown, field: string): Target {
    const [, side, kind, rest] =
      /^([RE])([IN])([\s\S]*)$/.exec(typeof index === 'number' ? `RI${index}` : String(index)) ?? [];
    if (side === undefined) {
      throw this.error(`${field} should be a number, RI0, RNname, EI0 or ENname, but is ${JSON.stringify(index)}`);
    }
    const book = side === 'R' ? this.result : this.expectedBook();
    const name = kind === 'N' ? rest! : (book.workbook.sheets.at(Number(rest))?.name ?? '');
    return { book, name };
  }

  /** Names of the sheets of both books. */
  names(): [string[], string[]] {
    const namesOf = (book: Book) => book.workbook.sheets.map(({ name }) => name);
    return [namesOf(this.result), namesOf(this.expectedBook())];
  }

  /** The sheet itself; null where the result has none. Throws a DartError where the expected file has none. */
  sheet({ book, name }: Target): Worksheet | null {
    const sheet = book.workbook.sheet(name);
    if (sheet !== undefined) return sheet;
    if (book.isResult) return null;
    throw this.error(`the expected file ${book.file.name} has no sheet ${JSON.stringify(name)}`);
  }

  /** What `look` sees in a book; where it breaks, that is the agent's fault in the result and the task's in the other. */
  read<T>({ book }: Target, look: () => T): T {
    return this.blame(book.file, book.isResult, look);
  }

  blame<T>(file: FetchedFile, isResult: boolean, look: () => T): T {
    try {
      return look();
    } catch (cause) {
      if (cause instanceof DartError) throw cause;
      if (isResult) throw new AgentFault(messageOf(cause), { cause });
      throw this.error(`the expected file ${file.name} cannot be compared: ${messageOf(cause)}`);
    }
  }

  error(message: string): DartError {
    return new DartError(`metric ${this.input.name}: ${message}`, { where: this.input.where });
  }

  private expectedBook(): Book {
    if (this.expected === null) throw this.error('a rule needs an expected file, but the task gives none');
    return this.expected;
  }
}

function open(file: FetchedFile, isResult: boolean, books: Books): Book {
  return { file, workbook: books.blame(file, isResult, () => new Workbook(file.bytes)), isResult };
}
