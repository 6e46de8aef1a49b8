import Docker from 'dockerode';
import { DartError } from '../../errors.ts';
import { isLoopback } from '../../stream/loopback.ts';
import { dockerError } from './errors.ts';
import { limited } from './limits.ts';

const DEFAULT_HOST = 'unix:///var/run/docker.sock';

/**
 * Docker at `host`, `DOCKER_HOST` or its usual socket. Nothing is asked yet.
 * @param answerMs How long it may take to answer (limits.ts).
 */
export function dockerAt(host = process.env.DOCKER_HOST || DEFAULT_HOST, answerMs?: number): Docker {
  return limited(connected(host), answerMs);
}

function connected(host: string): Docker {
  const hint = 'unix:///var/run/docker.sock, or tcp://127.0.0.1:2375 through a tunnel';
  const where = 'docker, host';
  if (host.startsWith('unix://')) {
    const socketPath = host.slice('unix://'.length);
    if (!socketPath.startsWith('/')) throw new DartError(`"${host}" is no socket`, { where, hint });
    return new Docker({ socketPath, ...{ host: undefined } });
  }
  if (!/^(tcp|http):\/\//.test(host) || !URL.canParse(host))
    throw new DartError(`cannot use "${host}"`, { where, hint });
  const { hostname, port } = new URL(host.replace(/^tcp:/, 'http:'));
  if (isLoopback(hostname)) return new Docker({ protocol: 'http', host: hostname, port: Number(port || 2375) });
  throw new DartError(`the desktops of Docker at ${hostname} could not be reached: their ports are on its loopback`, {
    where,
    hint: 'the command on that machine, or --driver kubernetes',
  });
}

/** @throws DartError where Docker does not answer, with the reason. */
export async function checkDocker(docker: Docker): Promise<void> {
  try {
    await docker.ping();
  } catch (error) {
    throw dockerError(error, 'answer', 'docker');
  }
}
