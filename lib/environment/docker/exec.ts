import type { Container } from 'dockerode';
import type { ExecuteResult } from '../../guest/guest.ts';
import { type ExecSinks, noProgram } from '../kind.ts';
import { FrameReader } from './frames.ts';

/** What Docker prints in the place of a program that it cannot start; the exit code alone may be the program's. */
const NOT_STARTED = /^OCI runtime exec failed: /;
const NO_SUCH = /executable file not found|no such file or directory/;

/** Runs a program in a container; what it prints goes to the sinks as it comes, else into the result. */
export async function runInContainer(
  container: Container,
  command: readonly string[],
  sinks?: ExecSinks,
): Promise<ExecuteResult> {
  const result = { output: '', error: '', returncode: 0 };
  const exec = await container.exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  const frames = new FrameReader();
  let refusal = '';
  try {
    for await (const bytes of await exec.start({})) {
      for (const { stream, text } of frames.read(bytes)) {
        if (refusal !== '' || NOT_STARTED.test(text)) refusal += text;
        else if (sinks) await sinks[stream](text);
        else result[stream === 'stdout' ? 'output' : 'error'] += text;
      }
    }
  } catch (error) {
    // Some versions refuse the request instead.
    const said = String(error);
    if (said.includes('OCI runtime exec failed') && NO_SUCH.test(said)) return noProgram(command);
    throw error;
  }
  const returncode = (await exec.inspect()).ExitCode ?? 0;
  if (refusal === '') return { ...result, returncode };
  if (NO_SUCH.test(refusal)) return noProgram(command);
  return { output: '', error: `${command[0]} could not be started: ${refusal.trim()}\n`, returncode };
}
