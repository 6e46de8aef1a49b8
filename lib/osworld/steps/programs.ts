import type { ExecuteResult } from '../../guest/guest.ts';
import { delay } from '../../stream/timer.ts';
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

/** Waits of `execute_with_verification` where the step says nothing, seconds. */
const [MAX_WAIT, INTERVAL] = [10, 1];

/**
 * `{command, shell?, verification: {window_exists?, command_success?}, max_wait_time?, check_interval?}`: runs a command
 * until there is a window with that name in its title, and that other command succeeds.
 */
const executeVerified: StepRunner = async (parameters, context) => {
  const wanted = new Fields(
    `${parameters.owner}.verification`,
    parameters.where,
    parameters.object('verification', {}),
  );
  const interval = parameters.number('check_interval', INTERVAL);
  if (interval <= 0) throw parameters.wrong('check_interval', 'more than 0');
  await context.guest.execute(fillCommand(parameters.command(), context), { shell: parameters.flag('shell') });
  const tries = Math.max(1, Math.ceil(parameters.number('max_wait_time', MAX_WAIT) / interval));
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (await isVerified(wanted, context)) return;
    await pause(interval * 1000, context);
  }
  throw taskError(context, `${parameters.owner}: the command ran, but its verification failed ${tries} times`);
};

async function isVerified(wanted: Fields, { guest }: TaskContext): Promise<boolean> {
  if (wanted.has('window_exists')) {
    const name = wanted.text('window_exists');
    if (!(await guest.windows()).some(({ title }) => title.includes(name))) return false;
  }
  if (!wanted.has('command_success')) return true;
  return (await guest.execute(wanted.command('command_success'), { shell: true })).returncode === 0;
}

/** `{seconds}`: waits, as long as the protocol says. */
const sleep: StepRunner = async (parameters, context) => {
  await pause(parameters.number('seconds') * 1000, context);
};

async function pause(ms: number, { protocol, signal }: TaskContext): Promise<void> {
  const scaled = ms * protocol.sleepScale;
  if (scaled > 0) await delay(scaled, signal);
}

export const programSteps: Record<string, StepRunner> = {
  launch,
  execute,
  command: execute,
  execute_with_verification: executeVerified,
  sleep,
};
