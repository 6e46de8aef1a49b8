import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from './api_server.testing.ts';
import { Cluster, openCluster } from './cluster.ts';
import { KubernetesDriver } from './driver.ts';
import { KubernetesFleet } from './fleet.ts';
import { Kubelet } from './kubelet.testing.ts';
import { type Clock, REAL_CLOCK } from './rate.ts';
import { type DriverSettings, driverSettings } from './settings.ts';

/** Time that passes at once whenever somebody waits. */
export class QuickClock implements Clock {
  readonly slept: number[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.#now += ms;
    await sleep(1);
  }
}

/** A contract server with a kubelet, and a way to it through a kubeconfig. */
export class Lab {
  readonly api = new ApiServer();
  readonly kubelet = new Kubelet(this.api);
  readonly told: string[] = [];
  readonly clock: Clock;
  cluster!: Cluster;
  port = 0;
  readonly #folder = mkdtempSync(join(tmpdir(), 'dart-kubernetes-'));

  private constructor(clock: Clock) {
    this.clock = clock;
  }

  static async start(clock: Clock = REAL_CLOCK): Promise<Lab> {
    const lab = new Lab(clock);
    await lab.api.start();
    lab.port = await freePort();
    writeFileSync(lab.kubeconfig, lab.api.kubeconfig());
    lab.cluster = await openCluster(lab.clusterSettings, clock);
    return lab;
  }

  get kubeconfig(): string {
    return join(this.#folder, 'config');
  }

  get clusterSettings() {
    return { kubeconfig: this.kubeconfig, qps: 1000, burst: 1000 };
  }

  /** The same cluster, as a pod in it sees it. */
  inside(podName: string): Cluster {
    const { client, config, namespace } = this.cluster;
    return new Cluster(client, config, this.clusterSettings, { namespace, podName }, this.clock);
  }

  settings(more: Partial<DriverSettings> = {}): DriverSettings {
    const values = { image: 'registry.test/dart-desktop:slim', port: this.port, 'start-timeout': 60 };
    return { ...driverSettings(values), address: 'pod', ...more };
  }

  driver(
    capacity: number,
    more: Partial<DriverSettings> & { detach?: boolean; cluster?: Cluster } = {},
  ): KubernetesDriver {
    const { detach, cluster = this.cluster, ...settings } = more;
    const options = { runId: 'run 7', detach, tell: (line: string) => void this.told.push(line) };
    return new KubernetesDriver(cluster, this.settings(settings), capacity, options);
  }

  fleet(): KubernetesFleet {
    return new KubernetesFleet(this.cluster);
  }

  /** Names of what is there. */
  names(resource: 'pods' | 'leases'): string[] {
    return this.api.store.list(resource, '').map(({ metadata }) => metadata.name);
  }

  async close(): Promise<void> {
    this.kubelet.close();
    await this.api.close();
    rmSync(this.#folder, { recursive: true });
  }
}

/** Resolves when `holds` does. */
export async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 6000 && !holds(); i++) await sleep(10);
  if (!holds()) throw new Error('it did not come about in a minute');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.1.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
