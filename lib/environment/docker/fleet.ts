import type Docker from 'dockerode';
import type { Container, ContainerInfo } from 'dockerode';
import type { ExecuteResult } from '../../guest/guest.ts';
import type { ExecSinks, Fleet, FleetMember, KindValues } from '../kind.ts';
import { checkDocker, dockerAt } from './client.ts';
import { removeContainer } from './container.ts';
import { dockerError } from './errors.ts';
import { runInContainer } from './exec.ts';
import { FrameReader } from './frames.ts';
import { DRIVER, LABELS } from './labels.ts';
import { isGone } from './owner.ts';

/** @throws DartError where Docker does not answer. */
export async function openDockerFleet(values: KindValues): Promise<DockerFleet> {
  const docker = dockerAt(values.host as string | undefined);
  await checkDocker(docker);
  return new DockerFleet(docker);
}

/** The containers of this Docker that carry our label; no other is seen, still less touched. */
export class DockerFleet implements Fleet {
  readonly #docker: Docker;
  /** Containers by what `list` has made of them. */
  readonly #containers = new WeakMap<FleetMember, Container>();

  constructor(docker: Docker) {
    this.#docker = docker;
  }

  async list(): Promise<FleetMember[]> {
    const filters = JSON.stringify({ label: [`${LABELS.driver}=${DRIVER}`] });
    try {
      const containers = await this.#docker.listContainers({ all: true, filters });
      return containers.map((info) => this.#member(info));
    } catch (error) {
      throw dockerError(error, 'list its containers', 'docker');
    }
  }

  async remove(member: FleetMember): Promise<void> {
    const container = await this.#find(member);
    if (container) await removeContainer(container);
  }

  async *logs(
    member: FleetMember,
    { follow = false, tail, signal }: Parameters<Fleet['logs']>[1],
  ): AsyncGenerator<string> {
    const container = await this.#find(member);
    if (!container) return;
    const options = { stdout: true, stderr: true, tail: tail ?? 'all', abortSignal: signal } as const;
    const frames = new FrameReader();
    const text = (bytes: Uint8Array) => frames.read(bytes).map((piece) => piece.text);
    try {
      // Docker keeps no more than 20 MB of it (recipe.ts).
      if (!follow) yield* text(await container.logs({ ...options, tail: options.tail as number }));
      else
        for await (const bytes of await container.logs({ ...options, tail: options.tail as number, follow }))
          yield* text(bytes as Buffer);
    } catch (error) {
      if (!signal?.aborted) throw dockerError(error, 'read its log', member.id);
    }
  }

  async exec(member: FleetMember, command: readonly string[], sinks?: ExecSinks): Promise<ExecuteResult> {
    const container = await this.#find(member);
    try {
      if (!container) throw new Error('there is no such container');
      return await runInContainer(container, command, sinks);
    } catch (error) {
      throw dockerError(error, `run ${command[0]}`, member.id);
    }
  }

  async close(): Promise<void> {}

  async #find(member: FleetMember): Promise<Container | undefined> {
    const known = this.#containers.get(member);
    if (known) return known;
    // Handed on by value: looked for by its names.
    const same = (await this.list()).find(({ id, run }) => id === member.id && run === member.run);
    return same && this.#containers.get(same);
  }

  #member(info: ContainerInfo): FleetMember {
    const labels = info.Labels;
    const running = info.State === 'running';
    const detached = labels[LABELS.detached] === 'true';
    const port = info.Ports.find(({ PrivatePort }) => String(PrivatePort) === labels[LABELS.port])?.PublicPort;
    const member: FleetMember = {
      id: labels[LABELS.env] ?? info.Id.slice(0, 12),
      driver: DRIVER,
      run: labels[LABELS.run] ?? '',
      state: running ? stateOf(info.Status) : info.State === 'created' ? 'starting' : 'exited',
      server_url: running && port ? `http://127.0.0.1:${port}` : null,
      created_at: new Date(info.Created * 1000).toISOString(),
      detached,
      orphan: !detached && isGone(labels[LABELS.owner] ?? '', running),
    };
    this.#containers.set(member, this.#docker.getContainer(info.Id));
    return member;
  }
}

/** `Up 3 seconds (health: starting)`: an image without a health check is ready as soon as it runs, as far as is known. */
function stateOf(status: string): FleetMember['state'] {
  return /starting|unhealthy/.test(status) ? 'starting' : 'ready';
}
