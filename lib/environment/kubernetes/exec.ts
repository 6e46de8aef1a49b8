import { Writable } from 'node:stream';
import type { V1Status } from '@kubernetes/client-node';
import { DartError } from '../../errors.ts';
import type { ExecuteResult } from '../../guest/guest.ts';
import { type ExecSinks, noProgram } from '../kind.ts';
import type { Cluster } from './cluster.ts';
import { CONTAINER } from './names.ts';

/** How a runtime says that there is no such program. */
const NO_SUCH = /executable file not found|no such file or directory/;

/** Runs a program in a desktop's pod, without a terminal and without input, as `kubectl exec` does. */
export async function runInPod(
  cluster: Cluster,
  name: string,
  command: readonly string[],
  sinks?: ExecSinks,
): Promise<ExecuteResult> {
  const output = new Collector(sinks?.stdout);
  const error = new Collector(sinks?.stderr);
  const exec = new cluster.client.Exec(cluster.config);
  const status = await cluster.call({ verb: 'create', resource: 'pods/exec', name }, async () => {
    let tell: (status: V1Status) => void = () => {};
    const told = new Promise<V1Status>((resolve) => {
      tell = resolve;
    });
    const connection = await exec.exec(
      cluster.namespace,
      name,
      CONTAINER,
      [...command],
      output,
      error,
      null,
      false,
      (status) => tell(status),
    );
    const broken = new Promise<null>((resolve) => {
      connection.onclose = () => resolve(null);
    });
    return Promise.race([told, broken]);
  });
  if (status === null) {
    throw new DartError('the connection ended before the program did', { where: `pod ${name}`, hint: 'dart-env list' });
  }
  await Promise.all([output.settled(), error.settled()]);
  if (NO_SUCH.test(status.message ?? '') && !ended(status)) return noProgram(command);
  return { output: output.text(), error: error.text(), returncode: exitCode(status, name) };
}

/** Whether it ran, and ended in whatever way. */
function ended({ status, reason }: V1Status): boolean {
  return status === 'Success' || reason === 'NonZeroExitCode';
}

function exitCode(status: V1Status, name: string): number {
  if (status.status === 'Success') return 0;
  const cause = status.details?.causes?.find(({ reason }) => reason === 'ExitCode');
  if (status.reason === 'NonZeroExitCode' && cause) return Number(cause.message);
  throw new DartError(`the program could not be run: ${status.message ?? status.reason ?? 'no reason'}`, {
    where: `pod ${name}`,
    hint: 'whether there is such a program in the image',
  });
}

/** Hands on what comes, or keeps it. */
class Collector extends Writable {
  readonly #pieces: Buffer[] = [];
  readonly #sink?: (text: string) => Promise<void>;
  readonly #decoder = new TextDecoder();

  constructor(sink?: (text: string) => Promise<void>) {
    super();
    this.#sink = sink;
    // Told by `settled`.
    this.on('error', () => {});
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.#sink) {
      void this.#sink(this.#decoder.decode(chunk, { stream: true })).then(() => done(), done);
      return;
    }
    this.#pieces.push(Buffer.from(chunk));
    done();
  }

  /** Resolves when all that came has been handed on. */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.errored) return reject(this.errored);
      if (this.writableFinished) return resolve();
      this.once('finish', resolve).once('error', reject);
      if (!this.writableEnded) this.end();
    });
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
