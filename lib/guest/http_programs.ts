import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { AnySignal } from '../stream/any_signal.ts';
import { EXECUTE_LIMIT_MS, type ExecuteResult } from './guest.ts';
import { BadRequest } from './http_body.ts';
import { type Call, type Reply, say } from './http_call.ts';
import { type Body, command, flag, milliseconds, path, text } from './http_fields.ts';
import { needsPython, playScript, pythonCode, readScript } from './play.ts';
import { TookTooLong, within } from './took_too_long.ts';

/** Limits of OSWorld's server for Python code and bash scripts, s. */
const PYTHON_S = 30;
const BASH_S = 100;
/** For the command that a verification runs, ms. */
const CHECK_MS = 5000;
/** How often a verification looks at most, ms. */
const MIN_INTERVAL_MS = 50;

/** `/execute`: a failing program is an answer like any other. */
export async function execute(call: Call): Promise<Reply> {
  const timeoutMs = milliseconds(call.body, 'timeout', EXECUTE_LIMIT_MS / 1000);
  return { json: { status: 'success', ...(await runCommand(call, timeoutMs)) } };
}

/** `/execute_with_verification`: a command, and then a wait for what it should bring about. */
export async function executeWithVerification(call: Call): Promise<Reply> {
  const wanted = (call.body.verification ?? {}) as Body;
  if (typeof wanted !== 'object') throw new BadRequest(400, 'verification must be an object');
  const maxMs = milliseconds(call.body, 'max_wait_time', 10);
  const intervalMs = Math.max(MIN_INTERVAL_MS, milliseconds(call.body, 'check_interval', 1));
  const result = await runCommand(call, EXECUTE_LIMIT_MS);
  if (Object.keys(wanted).length === 0) return { json: { status: 'success', ...result } };
  const start = performance.now();
  const waited = () => performance.now() - start;
  for (;;) {
    if (await holds(call, wanted)) {
      return { json: { status: 'success', ...result, verification: 'passed', wait_time: waited() / 1000 } };
    }
    if (waited() + intervalMs > maxMs) break;
    await sleep(intervalMs, undefined, { signal: call.signal });
  }
  const json = { status: 'verification_failed', ...result, verification: 'failed', wait_time: maxMs / 1000 };
  return { status: 500, json };
}

/** Whether a window and a command's success that were asked for are there. */
async function holds({ guest, signal }: Call, wanted: Body): Promise<boolean> {
  if (wanted.window_exists !== undefined) {
    const name = text(wanted, 'window_exists').toLowerCase();
    const windows = await guest.windows();
    if (!windows.some(({ title }) => title.toLowerCase().includes(name))) return false;
  }
  if (wanted.command_success === undefined) return true;
  const line = text(wanted, 'command_success');
  const check = guest.execute(line, { shell: true, timeoutMs: CHECK_MS, signal });
  const result = await within(guest.id, CHECK_MS, check).catch(() => null);
  return result?.returncode === 0;
}

/** `/run_python` */
export async function runPython(call: Call): Promise<Reply> {
  const code = text(call.body, 'code');
  const timeoutMs = milliseconds(call.body, 'timeout', PYTHON_S);
  try {
    const { output, error, returncode } = await runCode(call, code, timeoutMs);
    const status = returncode === 0 ? 'success' : 'error';
    const said = error !== '' || returncode === 0 ? error : `Process exited with code ${returncode}`;
    const message = output !== '' && said !== '' ? `${output}\n${said}` : output + said;
    return { json: { status, message, need_more: false, output, error: said, return_code: returncode } };
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const message = `Execution timeout: ${messageOf(error)}`;
    return { status: 500, json: { status: 'error', message, error: 'TimeoutExpired', need_more: false, output: null } };
  }
}

/** `/run_bash_script`: both streams in `output`. */
export async function runBash(call: Call): Promise<Reply> {
  const { guest, body, signal } = call;
  const script = typeof body.script === 'string' ? body.script : '';
  if (script === '') return bashFailed(400, 'Script not supplied!');
  const timeoutMs = milliseconds(body, 'timeout', BASH_S);
  const given = body.working_dir ?? '';
  const workingDir = given === '' ? undefined : await path(guest, body, 'working_dir');
  if (workingDir !== undefined && (await guest.execute(['test', '-d', workingDir])).returncode !== 0) {
    return bashFailed(400, `Working directory does not exist: ${workingDir}`);
  }
  try {
    const running = guest.runBash(script, { timeoutMs, workingDir, signal });
    const { output, error, returncode } = await within(guest.id, timeoutMs, running);
    const status = returncode === 0 ? 'success' : 'error';
    return { json: { status, output: output + error, error: '', returncode } };
  } catch (error) {
    return bashFailed(500, messageOf(error));
  }
}

function bashFailed(status: number, output: string): Reply {
  return { status, json: { status: 'error', message: output, output, error: '', returncode: -1 } };
}

/** `/setup/launch`: started and not waited for. */
export async function launch({ guest, body }: Call): Promise<Reply> {
  const { command: given, shell } = await command(guest, body);
  await guest.launch(given, { shell });
  return say(`${typeof given === 'string' ? given : given.join(' ')} launched successfully`);
}

async function runCommand(call: Call, timeoutMs: number): Promise<ExecuteResult> {
  const { guest, body, signal } = call;
  const given = await command(guest, body);
  const code = pythonCode(given.command);
  if (code !== null) return runCode(call, code, timeoutMs);
  const options = { shell: flag(body, 'shell'), timeoutMs, signal };
  const { output, error, returncode } = await within(guest.id, timeoutMs, guest.execute(given.command, options));
  return { output, error, returncode };
}

/** Plays code that is a list of pyautogui calls; other code is for the desktop's Python, where it has one. */
async function runCode(call: Call, code: string, timeoutMs: number): Promise<ExecuteResult> {
  const { guest, lanes, signal } = call;
  const played = needsPython(code)
    ? null
    : await lanes.inLane('input', signal, () => within(guest.id, timeoutMs, play(call, code, timeoutMs)));
  return played ?? within(guest.id, timeoutMs, guest.runPython(code, { timeoutMs, signal }));
}

/** Null for code that is no such list. */
async function play({ guest, signal }: Call, code: string, timeoutMs: number): Promise<ExecuteResult | null> {
  const script = await readScript(guest, code);
  if (!Array.isArray(script)) return null;
  const stop = new AnySignal([signal], timeoutMs);
  try {
    return await playScript(guest, script, stop.signal);
  } catch (error) {
    throw stop.late && !signal.aborted ? new TookTooLong(guest.id, timeoutMs) : error;
  } finally {
    stop.release();
  }
}
