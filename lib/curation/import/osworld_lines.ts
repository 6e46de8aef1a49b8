import { formatAction, parseOsworldAction } from '../../policy/grammar/index.ts';
import type { Action } from '../../stream/action.ts';
import { jsonLines } from './lines.ts';

/** One or more lines of a `traj.jsonl` with the same `step_num`: one reply and all that was done for it. */
export interface RunnerStep {
  stepNum: number;
  /** As recorded; null where nothing that can be read was. */
  response: string | null;
  actions: Action[];
  parseError: string | null;
  /** File names of the screenshots before the first and after the last of its actions, where the lines name them. */
  before: string | null;
  after: string | null;
  /** `20250925@101112` of its first and last action. */
  stamps: string[];
}

export interface RunnerLog {
  steps: RunnerStep[];
  instruction: string | null;
  /** The screen before anything was done. */
  initial: string | null;
  /** What the runner itself wrote about an exception. */
  error: string | null;
  /** `name:line` of a last line that is cut short. */
  torn: string | null;
}

/** A whole `traj.jsonl` as OSWorld's runner and its relatives write it. */
export async function readRunnerLog(path: string, name: string, onBad: (error: unknown) => void): Promise<RunnerLog> {
  const log: RunnerLog = { steps: [], instruction: null, initial: null, error: null, torn: null };
  const pointer = { x: 0, y: 0 };
  for await (const line of jsonLines(path, name, onBad)) {
    if ('torn' in line) {
      log.torn = line.torn;
      continue;
    }
    const { value } = line;
    log.instruction ??= textOf(value.instruction);
    log.initial ??= textOf(value.initial_screenshot);
    log.error ??= textOf(value.Error) ?? textOf(value.error);
    if (typeof value.step_num === 'number' && 'action' in value) addLine(log.steps, value, value.step_num, pointer);
  }
  return log;
}

function addLine(
  steps: RunnerStep[],
  value: Record<string, unknown>,
  stepNum: number,
  pointer: { x: number; y: number },
): void {
  const { actions, parseError } = parseOsworldAction(value.action, pointer);
  const stamp = textOf(value.action_timestamp);
  const after = textOf(value.screenshot_file);
  const last = steps.at(-1);
  if (last?.stepNum === stepNum) {
    last.actions.push(...actions);
    last.parseError ??= parseError;
    last.response ??= responseOf(value.response);
    last.after = after;
    if (stamp !== null) last.stamps.push(stamp);
    return;
  }
  steps.push({
    stepNum,
    response: responseOf(value.response),
    actions,
    parseError,
    before: textOf(value.screenshot_file_before_exec),
    after,
    stamps: stamp === null ? [] : [stamp],
  });
}

/** Agents record a text, or an object that has it in one of its usual places. */
function responseOf(response: unknown): string | null {
  if (typeof response !== 'object' || response === null) return textOf(response);
  const { response: inner, text, content } = response as Record<string, unknown>;
  return textOf(inner) ?? textOf(text) ?? textOf(content);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** The actions as a reply in our grammar, in absolute pixels; pauses between actions are left out. */
export function renderedReply(actions: readonly Action[]): string {
  const acts = actions.length > 1 ? actions.filter((action) => action.type !== 'wait') : actions;
  return acts.length === 0 ? '' : `Action: ${acts.map(formatAction).join('\n')}`;
}

/** `20250925@101112` (and six more digits in newer runners), taken as UTC; null for anything else. */
export function timeOfStamp(stamp: string | undefined): string | null {
  const found = /^(\d{4})(\d\d)(\d\d)@(\d\d)(\d\d)(\d\d)(\d{3})?\d*$/.exec(stamp ?? '');
  if (!found) return null;
  const [, year, month, day, hour, minute, second, ms = '000'] = found;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
