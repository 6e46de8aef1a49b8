import { spawn } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { DartError } from '../../lib/errors.ts';
import type { DemoStep } from './steps.ts';

/**
 * Plays shell lines one after another. Each leaves a file; a step whose file is there is not done again, so that the
 * same command goes on after Ctrl-C where it stopped.
 * @returns 0, or 130/143 when a step was stopped by a signal
 * @throws DartError naming the step that failed
 */
export async function playSteps(steps: readonly DemoStep[]): Promise<number> {
  for (const step of steps) {
    if (step.product && existsSync(step.product)) {
      say(`${step.title}: done before (${step.product})`);
      continue;
    }
    say(`${step.title}\n  $ ${step.command.replaceAll(' \\\n', ' \\\n  ')}`);
    const code = await shell(step.command);
    // What a stopped command could still write down (a trainer its metrics so far) is not the whole.
    if (code !== 0 && step.product && existsSync(step.product)) renameSync(step.product, `${step.product}.stopped`);
    if (code === 130 || code === 143) {
      say('stopped. The same command goes on from here; remove the run folder to begin anew.');
      return code;
    }
    if (code !== 0) {
      throw new DartError(`this step ended with exit code ${code}`, {
        where: step.title,
        hint: 'read its messages above, mend the cause, and run the same command again',
      });
    }
  }
  return 0;
}

/** Runs a line in bash; records to stdout, people read stderr; a failure anywhere in a pipe is a failure. */
function shell(command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-o', 'pipefail', '-c', command], { stdio: ['ignore', 'inherit', 'inherit'] });
    // Ctrl-C reaches the whole process group: the children end by themselves, this only waits for them.
    const wait = () => {};
    const forward = () => child.kill('SIGTERM');
    process.on('SIGINT', wait);
    process.on('SIGTERM', forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.off('SIGINT', wait);
      process.off('SIGTERM', forward);
      resolve(code ?? (signal === 'SIGINT' ? 130 : 143));
    });
  });
}

/** A line for people, on stderr. */
export function say(text: string): void {
  process.stderr.write(`demo: ${text}\n`);
}
