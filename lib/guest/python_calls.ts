import { LiteralReader, type PythonDict, type PythonValue } from './python_literals.ts';

export interface PythonCall {
  /** Dotted name: `pyautogui.click`, whatever it was imported as. A word that stands alone is a call without arguments. */
  name: string;
  args: PythonValue[];
  keywords: PythonDict;
  /** The statement as it was written. */
  source: string;
}

/** Words that stand alone, without brackets: what they are is for the caller to say. */
export type BareWords = readonly string[];

/**
 * Reads statements that are calls with literal arguments, apart by `;` or line ends. Imports, texts that stand for
 * themselves and assignments of literals are taken along: a name that was assigned stands for its value, and
 * `import pyautogui as pg` makes `pg.click` a `pyautogui.click`. Anything else is a DartError: nothing is evaluated.
 */
export function parseCalls(source: string, words: BareWords = []): PythonCall[] {
  return new StatementReader(source, words).calls();
}

class StatementReader extends LiteralReader {
  protected override expected = 'only calls with literal arguments are understood';
  private readonly words: BareWords;
  /** What modules were imported as. */
  private readonly aliases = new Map<string, string>();

  constructor(text: string, words: BareWords) {
    super(text);
    this.words = words;
  }

  calls(): PythonCall[] {
    const calls: PythonCall[] = [];
    while (!this.atEnd()) {
      if (this.match(/[\s;]+|#[^\n]*/y) !== null) continue;
      const call = this.statement();
      if (call) calls.push(call);
      this.spaces();
      if (!this.atEnd() && this.match(/[;\n]|\r\n|#[^\n]*/y) === null) throw this.problem();
    }
    return calls;
  }

  private statement(): PythonCall | null {
    const imported = this.match(/(?:import|from)\b[^;\n]*/y);
    if (imported !== null) return this.import(imported);
    if (this.atString()) {
      this.strings();
      return null;
    }
    const start = this.at;
    const name = this.match(/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/y);
    if (name === null) throw this.problem();
    if (this.peek(/[ \t]*(?:=(?!=)|,)/y)) return this.assignment(name);
    if (this.words.includes(name) && this.peek(/[ \t\r]*(?:[;\n#]|$)/y)) {
      return { name, args: [], keywords: Object.create(null), source: name };
    }
    this.spaces();
    if (!this.take('(')) {
      this.at = start;
      throw this.problem();
    }
    const given = this.nested(() => this.arguments());
    return { name: this.unaliased(name), ...given, source: this.text.slice(start, this.at) };
  }

  private import(statement: string): null {
    for (const [, module, alias] of statement.matchAll(/\b([\w.]+)[ \t]+as[ \t]+(\w+)/g)) {
      this.aliases.set(alias!, module!);
    }
    return null;
  }

  private unaliased(name: string): string {
    const dot = name.indexOf('.');
    const head = dot < 0 ? name : name.slice(0, dot);
    return (this.aliases.get(head) ?? head) + name.slice(head.length);
  }

  /** `x = 5`, `x, y = 3, 4`, `point = (3, 4)`; settings such as `pyautogui.PAUSE = 1` are read and mean nothing. */
  private assignment(first: string): null {
    const targets = [first];
    for (this.spaces(); this.take(','); this.spaces()) {
      this.spaces();
      const target = this.match(/[A-Za-z_]\w*/y);
      if (target === null) throw this.problem();
      targets.push(target);
    }
    if (!this.take('=')) throw this.problem();
    const values = this.assigned();
    if (targets.length === 1) {
      this.names.set(first, values);
      return null;
    }
    if (!Array.isArray(values) || values.length !== targets.length) throw this.problem('too many or too few values');
    targets.forEach((target, index) => {
      this.names.set(target, values[index]!);
    });
    return null;
  }

  /** One value, or several with commas between them and no brackets. */
  private assigned(): PythonValue {
    const first = this.value();
    const values = [first];
    for (this.spaces(); this.take(','); this.spaces()) values.push(this.value());
    return values.length === 1 ? first : values;
  }

  private arguments(): Pick<PythonCall, 'args' | 'keywords'> {
    const args: PythonValue[] = [];
    const keywords: PythonDict = Object.create(null);
    for (;;) {
      this.blank();
      if (this.take(')')) return { args, keywords };
      const keyword = this.match(/[A-Za-z_]\w*(?=\s*=[^=])/y);
      if (keyword !== null) {
        this.blank();
        this.take('=');
        keywords[keyword] = this.argument();
      } else args.push(this.argument());
      this.separator(')');
    }
  }

  /** Movement curves such as `pyautogui.easeInOutQuad` change nothing that is seen in the end. */
  private argument(): PythonValue {
    this.blank();
    return this.match(/pyautogui\.(?:ease\w+|linear)(?=\s*[,)])/y) === null ? this.value() : null;
  }
}
