import { randomBytes } from 'node:crypto';
import type { Driver, Environment } from '../environment.ts';
import type { OpenOptions } from '../kind.ts';
import type { Cluster } from './cluster.ts';
import { DesktopPod } from './desktop_pod.ts';
import { newOwner } from './names.ts';
import { Owner } from './owner.ts';
import type { DriverSettings } from './settings.ts';

/** Desktops as pods of one namespace, all with one owner. */
export class KubernetesDriver implements Driver {
  readonly name = 'kubernetes';
  readonly capacity: number;
  readonly #cluster: Cluster;
  readonly #settings: DriverSettings;
  readonly #options: OpenOptions;
  readonly #owner: Owner;
  readonly #told = new Set<string>();

  constructor(cluster: Cluster, settings: DriverSettings, capacity: number, options: OpenOptions) {
    this.#cluster = cluster;
    this.#settings = settings;
    this.capacity = capacity;
    this.#options = options;
    this.#owner = new Owner(cluster, newOwner(), options.runId, options.detach ?? false);
  }

  start(_place: number, id: string, signal?: AbortSignal): Promise<Environment> {
    return DesktopPod.start({
      cluster: this.#cluster,
      settings: this.#settings,
      owner: this.#owner,
      envId: id,
      runId: this.#options.runId,
      detached: this.#options.detach ?? false,
      token: randomBytes(24).toString('base64url'),
      tell: (line) => this.#tell(line),
      signal,
    });
  }

  /** Hundreds of pods wait for the same reason: each is said once. */
  #tell(line: string): void {
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#options.tell?.(line);
  }
}
