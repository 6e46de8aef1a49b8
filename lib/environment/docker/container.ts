import type Docker from 'dockerode';
import type { Container, ContainerInspectInfo } from 'dockerode';
import { DartError } from '../../errors.ts';
import { CannotStart } from '../environment.ts';
import { dockerError, imageMissing, statusOf } from './errors.ts';
import { textOf } from './frames.ts';
import { type Identity, recipeOf } from './recipe.ts';
import type { DockerSettings } from './settings.ts';

/** Docker takes a free port and binds it a moment later: somebody else may have it by then. */
const PORT_TRIES = 3;
const LOG_LINES = 10;

/** Makes a container and starts it. What could not be started is removed again. */
export async function runContainer(
  docker: Docker,
  settings: DockerSettings,
  who: Identity,
  port: number,
  network: string,
): Promise<Container> {
  for (let attempt = 1; ; attempt++) {
    const container = await createContainer(docker, settings, who, port, network);
    try {
      await container.start();
      return container;
    } catch (error) {
      await removeContainer(container);
      const explained = dockerError(error, 'start a container', who.env);
      if (attempt < PORT_TRIES && explained.message.includes('a port is taken')) continue;
      if (port === 0 || !explained.message.includes('a port is taken')) throw explained;
      throw new CannotStart(`port ${port} is taken`, { where: who.env, hint: explained.hint, cause: error });
    }
  }
}

async function createContainer(
  docker: Docker,
  settings: DockerSettings,
  who: Identity,
  port: number,
  network: string,
): Promise<Container> {
  try {
    return await docker.createContainer(recipeOf(settings, who, port, network));
  } catch (error) {
    if (statusOf(error) === 404 && /no such image/i.test(String(error))) {
      throw imageMissing(settings.image, settings.profile);
    }
    throw dockerError(error, 'make a container', who.env);
  }
}

/** Ends and removes it with what it has written. One that is gone, or is just being removed, is no error. */
export async function removeContainer(container: Container): Promise<void> {
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 409) return;
    throw dockerError(error, 'remove a container', container.id.slice(0, 12));
  }
}

/** Port on loopback of a port inside, or null where it is not published. */
export function publishedPort(info: ContainerInspectInfo, inside: number): number | null {
  const port = info.NetworkSettings.Ports[`${inside}/tcp`]?.[0]?.HostPort;
  return port ? Number(port) : null;
}

/**
 * Why a container is over: its exit code, whether its memory ran out, and its last words; null where it runs.
 * @param env `env_id` of the desktop, for the message.
 */
export async function causeOfDeath(container: Container, env: string): Promise<DartError | null> {
  let info: ContainerInspectInfo;
  try {
    info = await container.inspect();
  } catch (error) {
    const gone = statusOf(error) === 404;
    return gone ? new DartError('its container was removed by somebody else', { where: env, cause: error }) : null;
  }
  const { State: state, HostConfig: host } = info;
  if (state.Running) return null;
  const name = `its container ${container.id.slice(0, 12)}`;
  if (state.OOMKilled) {
    const limit = host.Memory ? `its ${Math.round(host.Memory / 2 ** 20)} MiB of memory` : "the machine's memory";
    return new DartError(`${name} ran out of ${limit} (exit code ${state.ExitCode})`, {
      where: env,
      hint: 'more with memory=4g, or fewer desktops',
    });
  }
  const words = await lastWords(container);
  return new DartError(`${name} ended with exit code ${state.ExitCode}${ending(state.ExitCode)}${words}`, {
    where: env,
  });
}

/** What a code above 128 says of a signal. */
function ending(code: number): string {
  if (code === 137) return ' (SIGKILL: docker kill, or no memory)';
  return code > 128 ? ` (signal ${code - 128})` : '';
}

async function lastWords(container: Container): Promise<string> {
  try {
    const bytes = await container.logs({ stdout: true, stderr: true, tail: LOG_LINES, follow: false });
    // That it was ready is no reason to end.
    const lines = textOf(bytes as Buffer).split('\n');
    const said = lines
      .filter((line) => !line.startsWith('{"type":"env"'))
      .join('\n')
      .trim();
    return said === '' ? '' : `; it logged last:\n${said}`;
  } catch {
    return '';
  }
}
