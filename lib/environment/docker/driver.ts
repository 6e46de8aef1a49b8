import type Docker from 'dockerode';
import type { Container } from 'dockerode';
import { DartError } from '../../errors.ts';
import type { Guest, ResettableGuest } from '../../guest/guest.ts';
import { connectResettable, HttpGuest } from '../../guest/http_client.ts';
import { AnySignal } from '../../stream/any_signal.ts';
import type { Driver, Environment } from '../environment.ts';
import type { KindValues, OpenOptions } from '../kind.ts';
import { checkDocker, dockerAt } from './client.ts';
import { publishedPort, removeContainer, runContainer } from './container.ts';
import { dockerError, imageMissing, statusOf } from './errors.ts';
import { DRIVER } from './labels.ts';
import { desktopNetwork } from './network.ts';
import { thisOwner } from './owner.ts';
import { awaitServer } from './readiness.ts';
import { PORTS } from './recipe.ts';
import { type DockerSettings, settingsOf } from './settings.ts';
import { Vigil } from './vigil.ts';

/**
 * The driver of `--env docker:N,…`, when Docker answers and has the image.
 * @throws DartError that says what is missing.
 */
export async function openDocker(count: number, values: KindValues, options: OpenOptions): Promise<DockerDriver> {
  const settings = settingsOf(values);
  const last = settings.firstPort + count - 1;
  if (settings.firstPort > 0 && last > 65_535) {
    throw new DartError(`${count} desktops do not fit between ${settings.firstPort} and 65535`, {
      where: 'docker, first-port',
    });
  }
  const docker = dockerAt(values.host as string | undefined);
  await checkDocker(docker);
  await checkImage(docker, settings);
  return new DockerDriver(docker, count, settings, options);
}

async function checkImage(docker: Docker, { image, profile }: DockerSettings): Promise<void> {
  try {
    await docker.getImage(image).inspect();
  } catch (error) {
    if (statusOf(error) === 404) throw imageMissing(image, profile);
    throw dockerError(error, `look for the image ${image}`, 'docker');
  }
}

/** Desktops in containers; each goes with the process that started it, unless it is detached. */
export class DockerDriver implements Driver {
  readonly name = DRIVER;
  readonly capacity: number;
  readonly #docker: Docker;
  readonly #settings: DockerSettings;
  readonly #options: OpenOptions;

  constructor(docker: Docker, capacity: number, settings: DockerSettings, options: OpenOptions) {
    this.#docker = docker;
    this.capacity = capacity;
    this.#settings = settings;
    this.#options = options;
  }

  async start(place: number, id: string, signal?: AbortSignal): Promise<Environment> {
    signal?.throwIfAborted();
    const { runId: run, detach = false } = this.#options;
    const network = this.#settings.network ?? (await desktopNetwork(this.#docker));
    const port = this.#settings.firstPort > 0 ? this.#settings.firstPort + place : 0;
    const who = { env: id, run, owner: thisOwner(), detached: detach };
    const container = await runContainer(this.#docker, this.#settings, who, port, network);
    const vigil = new Vigil(container, id);
    try {
      return await this.#environment(container, vigil, id, signal);
    } catch (error) {
      const explained = await vigil.explain(error);
      vigil.close();
      await removeContainer(container).catch(() => {});
      throw explained;
    }
  }

  async #environment(container: Container, vigil: Vigil, id: string, signal?: AbortSignal): Promise<Environment> {
    const info = await container.inspect();
    const url = (inside: number) => {
      const port = publishedPort(info, inside);
      return port === null ? undefined : `http://127.0.0.1:${port}`;
    };
    const serverUrl = url(PORTS.server);
    // The container may be over already; the vigil will say so.
    if (!serverUrl) throw new DartError(`its port ${PORTS.server} is not published`, { where: id });
    const stop = new AnySignal([signal, vigil.signal]);
    const limitMs = this.#settings.bootTimeoutMs;
    await awaitServer(serverUrl, { id, limitMs, signal: stop.signal }).finally(() => stop.release());
    const connect = this.#settings.reset === 'session' ? connectResettable : HttpGuest.connect;
    const guest: Guest = vigil.over(await connect(serverUrl, { id, signal: vigil.signal }));
    return {
      id,
      driver: DRIVER,
      guest,
      waits: this.#settings.waits,
      serverUrl,
      cdpUrl: url(PORTS.cdp),
      vlcUrl: url(PORTS.vlc),
      vncUrl: url(PORTS.vnc),
      ...this.#resetOf(guest, id),
      close: async () => {
        vigil.close();
        if (!this.#options.detach) await removeContainer(container);
      },
    };
  }

  #resetOf(guest: Guest, id: string): Pick<Environment, 'disposable' | 'reset'> {
    if (isResettable(guest)) return { reset: (seed) => guest.reset(seed) };
    let fresh = true;
    const reset = async () => {
      if (!fresh) throw new DartError('this container was used, and is replaced instead of being reset', { where: id });
      fresh = false;
    };
    return { disposable: true, reset };
  }
}

function isResettable(guest: Guest): guest is ResettableGuest {
  return 'reset' in guest;
}
