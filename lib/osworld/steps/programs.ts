import { setTimeout as delay } from 'node:timers/promises';
import type { ExecuteResult } from '../../guest/guest.ts';
import { type TaskContext, taskError } from '../context.ts';
import { Fields } from '../fields.ts';
import type { StepRunner } from '../kinds.ts';
import { fillCommand } from '../templates.ts';

/** OSWorld's limits for `until`: 0.3 s between tries, five failures. */
const UNTIL_PAUSE_MS = 300;
const UNTIL_TRIES = 5;

/** `{command, shell?}`: starts a program without waiting for it. */
const launch: StepRunner = async (parameters, context) => {
  const command = fillCommand(parameters.command(), context);
  // A one-string command with blanks is meant for a shell even where the file does not say so.
  const shell = parameters.flag('shell') || (typeof command === 'string' && command.trim().includes(' '));
  await context.guest.launch(command, { shell });
};

/** `{command, shell?, stdout?, stderr?, until?}`: runs a command; its exit code is not looked at, as in OSWorld. */
const execute: StepRunner = async (parameters, context) => {
  const command = fillCommand(parameters.command(), context);
  const shell = parameters.flag('shell');
  const until = parameters.has('until')
    ? new Fields(`${parameters.owner}.until`, parameters.where, parameters.values.until)
    : null;
  for (let attempt = 0; attempt < UNTIL_TRIES; attempt += 1) {
    const result = await context.guest.execute(command, { shell });
    keepOutput(parameters, context, result);
    if (until === null || isMet(until, result)) return;
    await pause(UNTIL_PAUSE_MS, context);
  }
  throw taskError(context, `${parameters.owner}: "until" was not met in ${UNTIL_TRIES} tries`);
};

function keepOutput(parameters: Fields, context: TaskContext, result: ExecuteResult): void {
  if (parameters.has('stdout')) context.cache.set(parameters.text('stdout'), Buffer.from(result.output, 'utf8'));
  if (parameters.has('stderr')) context.cache.set(parameters.text('stderr'), Buffer.from(result.error, 'utf8'));
}

function isMet(until: Fields, result: ExecuteResult): boolean {
  if (until.has('returncode') && until.number('returncode') === result.returncode) return true;
  if (until.has('stdout') && result.output.includes(until.text('stdout'))) return true;
  return until.has('stderr') && result.error.includes(until.text('stderr'));
}

/** `{seconds}`: waits, as long as the protocol says. */
const sleep: StepRunner = async (parameters, context) => {
  await pause(parameters.number('seconds') * 1000, context);
};

async function pause(ms: number, { protocol, signal }: TaskContext): Promise<void> {
  const scaled = ms * protocol.sleepScale;
  if (scaled > 0) await delay(scaled, undefined, { signal });
}

export const programSteps: Record<string, StepRunner> = { launch, execute, command: execute, sleep };
