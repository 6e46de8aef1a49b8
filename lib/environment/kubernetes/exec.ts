import { Writable } from 'node:stream';
import type { V1Status } from '@kubernetes/client-node';
import { DartError } from '../../errors.ts';
import type { ExecuteResult } from '../../guest/guest.ts';
import type { Cluster } from './cluster.ts';
import { CONTAINER } from './names.ts';

/** Runs a program in a desktop's pod, without a terminal and without input, as `kubectl exec` does. */
export async function runInPod(cluster: Cluster, name: string, command: readonly string[]): Promise<ExecuteResult> {
  const output = new Collector();
  const error = new Collector();
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
  return { output: output.text(), error: error.text(), returncode: exitCode(status, name) };
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

class Collector extends Writable {
  readonly #pieces: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#pieces.push(Buffer.from(chunk));
    done();
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
