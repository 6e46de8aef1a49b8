import type { V1Lease, V1MicroTime, V1OwnerReference } from '@kubernetes/client-node';
import { statusOf } from './api_error.ts';
import type { Cluster } from './cluster.ts';
import { LABEL, labelValue, leaseName } from './names.ts';
import { PodWatch } from './watch.ts';

/** A lease counts so long without being renewed, s; renewed four times as often, ms. */
export const LEASE_S = 120;
const RENEW_MS = 30_000;

/**
 * What stands in the cluster for the process that owns desktops while it has any: a lease that it renews, which tells
 * others that it lives, and a watch on its pods. The pods belong to the Job's pod when we run in one, else to the
 * lease: when that is deleted, Kubernetes takes along what is left of them.
 */
export class Owner {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #runId: string;
  readonly #detached: boolean;
  #users = 0;
  #open: Promise<OpenOwner> | null = null;
  #closing: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, name: string, runId: string, detached: boolean) {
    this.#cluster = cluster;
    this.name = name;
    this.#runId = runId;
    this.#detached = detached;
  }

  /** Each `enter` wants one `leave`; after the last, nothing of us runs and no lease is left. */
  async enter(): Promise<OpenOwner> {
    this.#users += 1;
    await this.#closing;
    this.#open ??= this.#begin();
    const opened = this.#open;
    try {
      return await opened;
    } catch (error) {
      // The next one tries anew.
      if (this.#open === opened) this.#open = null;
      await this.leave();
      throw error;
    }
  }

  async leave(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0 || !this.#open) return;
    const opened = this.#open;
    this.#open = null;
    this.#closing = opened.then(
      (owner) => owner.close(),
      () => {},
    );
    await this.#closing;
  }

  async #begin(): Promise<OpenOwner> {
    const watch = new PodWatch(this.#cluster, this.name);
    if (this.#detached) {
      await watch.start();
      return new OpenOwner(watch, null, undefined);
    }
    const job = await this.#job();
    const lease = await Lease.create(this.#cluster, this.name, this.#runId, job);
    try {
      await watch.start();
    } catch (error) {
      await lease.close();
      throw error;
    }
    return new OpenOwner(watch, lease, job ?? lease.reference());
  }

  /** The pod that we run in, where it is in the same namespace: an owner elsewhere is no owner. */
  async #job(): Promise<V1OwnerReference | undefined> {
    const { inside, namespace } = this.#cluster;
    if (!inside || inside.namespace !== namespace) return undefined;
    const name = inside.podName;
    const pod = await this.#cluster.call({ verb: 'get', resource: 'pods', name }, () =>
      this.#cluster.core.readNamespacedPod({ namespace, name }),
    );
    return { apiVersion: 'v1', kind: 'Pod', name, uid: pod.metadata!.uid! };
  }
}

/** An owner that is in the cluster. */
export class OpenOwner {
  readonly watch: PodWatch;
  readonly reference: V1OwnerReference | undefined;
  readonly #lease: Lease | null;

  constructor(watch: PodWatch, lease: Lease | null, reference: V1OwnerReference | undefined) {
    this.watch = watch;
    this.reference = reference;
    this.#lease = lease;
  }

  async close(): Promise<void> {
    await Promise.all([this.watch.stop(), this.#lease?.close()]);
  }
}

/** A lease that is renewed until it is closed. */
class Lease {
  readonly #cluster: Cluster;
  readonly #timer: NodeJS.Timeout;
  readonly #lease: V1Lease;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(cluster: Cluster, lease: V1Lease) {
    this.#cluster = cluster;
    this.#lease = lease;
    this.#timer = setInterval(() => {
      this.#renewing = this.#renewing.then(() => this.#renew());
    }, RENEW_MS);
    this.#timer.unref();
  }

  static async create(cluster: Cluster, owner: string, runId: string, job?: V1OwnerReference): Promise<Lease> {
    const name = leaseName(owner);
    const { namespace } = cluster;
    const body: V1Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name,
        labels: { [LABEL.run]: labelValue(runId), [LABEL.driver]: 'kubernetes', [LABEL.owner]: owner },
        ...(job ? { ownerReferences: [job] } : {}),
      },
      spec: { holderIdentity: owner, leaseDurationSeconds: LEASE_S, renewTime: now(cluster) },
    };
    const made = await cluster.call({ verb: 'create', resource: 'leases', name }, () =>
      cluster.coordination.createNamespacedLease({ namespace, body }).catch((error: unknown) => {
        // The answer to a first try was lost.
        if (statusOf(error) === 409) return cluster.coordination.readNamespacedLease({ namespace, name });
        throw error;
      }),
    );
    return new Lease(cluster, made);
  }

  reference(): V1OwnerReference {
    const { name, uid } = this.#lease.metadata!;
    return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: name!, uid: uid! };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    const { name, uid } = this.#lease.metadata!;
    await this.#cluster.call({ verb: 'delete', resource: 'leases', name }, () =>
      this.#cluster.coordination
        .deleteNamespacedLease({
          namespace: this.#cluster.namespace,
          name: name!,
          body: { preconditions: { uid: uid! } },
        })
        .catch((error: unknown) => ignore(error, [404, 409])),
    );
  }

  /** A renewal that fails is made good by the next one; four have to fail before anybody takes us for dead. */
  async #renew(): Promise<void> {
    const { client, coordination, namespace } = this.#cluster;
    const name = this.#lease.metadata!.name!;
    const body = { spec: { renewTime: now(this.#cluster) } };
    const merge = client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch);
    await this.#cluster
      .call({ verb: 'patch', resource: 'leases', name }, () =>
        coordination.patchNamespacedLease({ namespace, name, body }, merge),
      )
      .catch(() => {});
  }
}

function now(cluster: Cluster): V1MicroTime {
  return new cluster.client.V1MicroTime(cluster.serverTime());
}

/** Takes these statuses for an answer. */
export function ignore(error: unknown, statuses: readonly number[]): null {
  if (statuses.includes(statusOf(error) ?? 0)) return null;
  throw error;
}
