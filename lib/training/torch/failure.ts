import { constants } from 'node:os';
import { DartError } from '../../errors.ts';
import type { RankFault } from './messages.ts';

/** How the launcher of the ranks ended, and what it said. */
export interface LauncherEnd {
  exitCode: number | null;
  signal: string | null;
  /** Why it did not start, where it did not. */
  reason: string | null;
  /** Its own last lines on stderr; ranks' lines are not among them. */
  lines: readonly string[];
  /** The last lines of each rank, by number. */
  ranks: ReadonlyMap<number, readonly string[]>;
}

/** A rank that ended, with its exit code: negative for a signal. */
export interface EndedRank {
  rank: number;
  exitCode: number;
}

/** An example that cannot be learned from; the ranks go on. */
export function sampleError({ where, message }: RankFault): DartError {
  return new DartError(...split(message, { where: where || undefined }));
}

/**
 * What ended the job, in words: the error that a rank told of, or the rank that ended without a word, or how the launcher
 * ended.
 * @param doing What the ranks were asked for: `step`.
 */
export function failureOf(doing: string, fault: RankFault | null, end: LauncherEnd): DartError {
  const where = `torch engine, ${doing}`;
  if (fault && typeof fault.rank === 'number') return faultError(fault, fault.rank, where);
  const ended = endedRank(end.lines);
  if (ended && (ended.exitCode < 0 || !fault)) return endedError(ended, end, where);
  if (fault) return faultError(fault, null, where);
  if (end.reason !== null) return new DartError(`Python does not start: ${end.reason}`, { where, hint: PYTHON_HINT });
  const how = end.signal === null ? `exit code ${end.exitCode}` : `signal ${end.signal}`;
  return new DartError(`the ranks ended without an answer (${how})${saying(lastWords(end))}`, { where });
}

/** What to try where Python itself is the trouble. */
export const PYTHON_HINT = '--python PROGRAM, or the variable DART_PYTHON';

function faultError(fault: RankFault, rank: number | null, where: string): DartError {
  const who = rank === null ? '' : `rank ${rank}: `;
  const missing = /No module named '([^']+)'/.exec(fault.message)?.[1];
  const place = fault.where ? `${where}, ${fault.where}` : where;
  if (missing) return new DartError(`${who}${fault.message}`, { where: place, hint: pipLine([missing]) });
  const hint = fault.kind === 'memory' ? MEMORY_HINT : undefined;
  return new DartError(...split(`${who}${fault.message}`, { where: place, hint }));
}

const MEMORY_HINT = 'fewer --micro-tokens, a smaller --head-chunk, more --nproc, --lora 64, or --offload';

function endedError({ rank, exitCode }: EndedRank, end: LauncherEnd, where: string): DartError {
  const how = exitCode < 0 ? `was ended by ${signalName(-exitCode)}` : `ended with exit code ${exitCode}`;
  const killed = exitCode === -constants.signals.SIGKILL;
  return new DartError(`rank ${rank} ${how}${saying(end.ranks.get(rank)?.at(-1))}`, {
    where,
    hint: killed
      ? "the same command again; `dmesg` says whether the machine's memory had run out: then fewer --nproc"
      : 'the same command again, which goes on from the newest version',
  });
}

/**
 * The rank that the launcher's report blames: one that a signal ended before one that ended by itself, as ranks do that
 * lose another; null without such a report. SIGTERM is how the launcher ends the others.
 */
export function endedRank(lines: readonly string[]): EndedRank | null {
  const found: EndedRank[] = [];
  let rank: number | null = null;
  for (const line of lines) {
    rank = numberIn(/^\s*rank\s*:\s*(\d+)/, line) ?? rank;
    const exitCode = numberIn(/^\s*exitcode\s*:\s*(-?\d+)/, line);
    if (rank === null || exitCode === null) continue;
    found.push({ rank, exitCode });
    rank = null;
  }
  const silent = found.find(({ exitCode }) => exitCode < 0 && exitCode !== -constants.signals.SIGTERM);
  // The root cause stands last.
  return silent ?? found.at(-1) ?? null;
}

/** The command that installs Python packages, by the names that they are imported under. */
export function pipLine(modules: readonly string[]): string {
  const names = modules.map((name) => PIP[name.split('.')[0]!] ?? name.split('.')[0]!);
  return `pip install ${names.join(' ')}`;
}

const PIP: Readonly<Record<string, string>> = { PIL: 'pillow' };

/** Advice that is part of a message becomes the hint. */
function split(
  message: string,
  options: { where?: string; hint?: string },
): [string, { where?: string; hint?: string }] {
  const [text, advice] = message.split(/\.? Try: /, 2) as [string, string | undefined];
  return [text, { ...options, hint: advice ?? options.hint }];
}

function numberIn(pattern: RegExp, line: string): number | null {
  const found = pattern.exec(line)?.[1];
  return found === undefined ? null : Number(found);
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
}

function lastWords({ lines, ranks }: LauncherEnd): string | undefined {
  const said = [...lines, ...[...ranks.values()].flat()].filter((line) => line.trim() !== '');
  // A Python that ends by an error says last which one it was.
  return said.findLast((line) => /^\s*\w+(\.\w+)*(Error|Exception)\b|No module named/.test(line)) ?? said.at(-1);
}

function saying(line: string | undefined): string {
  return line === undefined || line.trim() === '' ? '' : `; it last said: ${line.trim()}`;
}
