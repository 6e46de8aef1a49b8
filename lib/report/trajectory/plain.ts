import { counted } from '../../stream/counted.ts';
import type { Step, Trajectory } from '../../stream/records.ts';
import { visible } from '../../stream/visible.ts';
import { replyParts, stepTimes, trajectoryFacts } from './facts.ts';
import { shownTokens, stepValue } from './tokens.ts';
import { actionWords } from './words.ts';

export interface PlainOptions {
  /** ANSI colours. */
  colour: boolean;
  /** Columns; lines are broken there. */
  width: number;
}

/** Column at which text begins. */
const INDENT = 11;
const MIN_WIDTH = 40;

const STYLES = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' } as const;
type Style = keyof typeof STYLES;

/** A trajectory as text for people, one part after another: its instruction and what came of it, then step by step. */
export function* plainTrajectory(trajectory: Trajectory, options: PlainOptions): Generator<string> {
  const page = new Plain(options);
  yield `${page.paint(page.wrapped(trajectory.instruction, 0), 'bold')}\n`;
  for (const [name, text] of trajectoryFacts(trajectory)) {
    yield page.row(name, text, name === 'outcome' ? outcomeStyle(trajectory) : name === 'error' ? 'red' : undefined);
  }
  for (const step of trajectory.steps) yield stepText(step, page);
}

function outcomeStyle({ outcome }: Trajectory): Style {
  return outcome === 'success' ? 'green' : outcome.endsWith('_error') ? 'red' : 'yellow';
}

function stepText(step: Step, page: Plain): string {
  const { thought, action } = replyParts(step);
  const done = step.actions.map((one) => actionWords(one)).join(', then ');
  const shot = step.observation.screenshot;
  return [
    `\n${page.paint(`step ${step.index + 1}`, 'bold')}  ${page.paint(stepNumbers(step), 'dim')}\n`,
    page.row('screen', `${shot.width} × ${shot.height}, ${shot.sha256}`, 'dim'),
    thought === null ? '' : page.row('thought', thought),
    action === null ? '' : page.row('reply', action, 'dim'),
    page.row('action', done === '' ? 'nothing was done' : done, 'cyan'),
    step.parse_error === undefined ? '' : page.row('problem', `could not be read: ${step.parse_error}`, 'red'),
  ].join('');
}

function stepNumbers(step: Step): string {
  const { measure, tokens } = shownTokens(step);
  const mean = stepValue(step);
  const parts = [
    ...stepTimes(step).map(([name, text]) => `${name} ${text}`),
    `version ${step.model_version}`,
    tokens.length === 0 ? 'no tokens' : counted(tokens.length, 'token'),
    mean === null ? null : `mean ${measure} ${mean.toFixed(2)} nats`,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

class Plain {
  readonly #colour: boolean;
  readonly #width: number;

  constructor({ colour, width }: PlainOptions) {
    this.#colour = colour;
    this.#width = Math.max(MIN_WIDTH, width);
  }

  row(name: string, text: string, style?: Style): string {
    const body = this.wrapped(text, INDENT);
    return `  ${this.paint(name.padEnd(INDENT - 2), 'dim')}${style ? this.paint(body, style) : body}\n`;
  }

  /** Broken at the width; lines after the first are indented. */
  wrapped(text: string, indent: number): string {
    const room = this.#width - indent;
    const lines = visible(text)
      .trim()
      .split('\n')
      .flatMap((line) => broken(line, room));
    return lines.join(`\n${' '.repeat(indent)}`);
  }

  paint(text: string, style: Style): string {
    return this.#colour ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
  }
}

/** At blanks where there is one; a word that is longer than a line goes on in the next. */
function broken(line: string, room: number): string[] {
  const lines: string[] = [];
  let rest = [...line];
  for (let fit = fitting(rest, room); fit < rest.length; fit = fitting(rest, room)) {
    const blank = rest.lastIndexOf(' ', fit);
    const cut = blank > 0 ? blank : fit;
    lines.push(rest.slice(0, cut).join('').trimEnd());
    rest = rest.slice(rest[cut] === ' ' ? cut + 1 : cut);
  }
  return [...lines, rest.join('').trimEnd()];
}

/** How many characters fit. Those of East Asian scripts and pictures take two columns. */
function fitting(characters: readonly string[], room: number): number {
  let used = 0;
  const over = characters.findIndex((character) => {
    used += WIDE.test(character) ? 2 : 1;
    return used > room;
  });
  return over === -1 ? characters.length : Math.max(1, over);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
