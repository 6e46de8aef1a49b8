import type { V1Lease, V1Pod } from '@kubernetes/client-node';
import { DartError } from '../../errors.ts';
import type { ExecuteResult } from '../../guest/guest.ts';
import type { ExecSinks, Fleet, FleetMember } from '../kind.ts';
import type { ApiCall } from './api_error.ts';
import type { Cluster } from './cluster.ts';
import { runInPod } from './exec.ts';
import { healthOf } from './health.ts';
import { type LogOptions, readLog } from './logs.ts';
import { ALL_DESKTOPS, DETACHED, LABEL, leaseName, TOKEN_VARIABLE } from './names.ts';
import { ignore, LEASE_S } from './owner.ts';

/** Pods in their namespace that some process has started, this one or another. */
export class KubernetesFleet implements Fleet {
  readonly #cluster: Cluster;
  readonly #pods = new WeakMap<FleetMember, V1Pod>();
  readonly #leases = new Map<string, V1Lease>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async list(): Promise<FleetMember[]> {
    const { namespace, core, coordination } = this.#cluster;
    const selection = { namespace, labelSelector: ALL_DESKTOPS, limit: 500 };
    const pods: V1Pod[] = [];
    let page: string | undefined;
    do {
      const list = await this.#call({ verb: 'list', resource: 'pods' }, () =>
        core.listNamespacedPod({ ...selection, _continue: page }),
      );
      pods.push(...list.items);
      page = list.metadata?._continue || undefined;
    } while (page !== undefined);
    // After the pods: an owner makes its lease before its first pod.
    const leases = await this.#call({ verb: 'list', resource: 'leases' }, () =>
      coordination.listNamespacedLease({ namespace, labelSelector: ALL_DESKTOPS }),
    );
    this.#leases.clear();
    for (const lease of leases.items) this.#leases.set(lease.metadata?.name ?? '', lease);
    return pods.filter((pod) => !pod.metadata?.deletionTimestamp).map((pod) => this.#member(pod));
  }

  async remove(member: FleetMember): Promise<void> {
    const pod = await this.#podOf(member);
    if (!pod) return;
    const { name, uid, labels } = pod.metadata!;
    const { namespace, core } = this.#cluster;
    const preconditions = { uid: uid! };
    await this.#call({ verb: 'delete', resource: 'pods', name: name! }, () =>
      core
        .deleteNamespacedPod({ namespace, name: name!, body: { preconditions } })
        .catch((error: unknown) => ignore(error, [404, 409])),
    );
    if (member.orphan) await this.#removeLease(labels?.[LABEL.owner] ?? '');
  }

  async *logs(member: FleetMember, options: LogOptions): AsyncIterable<string> {
    const pod = await this.#existing(member);
    yield* readLog(this.#cluster, pod.metadata!.name!, options);
  }

  async exec(member: FleetMember, command: readonly string[], sinks?: ExecSinks): Promise<ExecuteResult> {
    const pod = await this.#existing(member);
    return runInPod(this.#cluster, pod.metadata!.name!, command, sinks);
  }

  async close(): Promise<void> {}

  #member(pod: V1Pod): FleetMember {
    const { annotations = {}, labels = {}, creationTimestamp } = pod.metadata!;
    const health = healthOf(pod);
    const detached = annotations[DETACHED] === 'true';
    const token = pod.spec?.containers[0]?.env?.find(({ name }) => name === TOKEN_VARIABLE)?.value;
    const port = pod.spec?.containers[0]?.ports?.find(({ name }) => name === 'guest')?.containerPort;
    const address = pod.status?.podIP;
    const host = address?.includes(':') ? `[${address}]` : address;
    const member: FleetMember = {
      id: annotations[LABEL.env] ?? labels[LABEL.env] ?? pod.metadata!.name!,
      driver: 'kubernetes',
      run: annotations[LABEL.run] ?? labels[LABEL.run] ?? '',
      state: health.state === 'ready' ? 'ready' : health.state === 'gone' ? 'exited' : 'starting',
      server_url: host && port ? `http://${token ? `:${token}@` : ''}${host}:${port}` : null,
      created_at: new Date(creationTimestamp ?? 0).toISOString(),
      detached,
      orphan: !detached && !this.#lives(labels[LABEL.owner] ?? ''),
    };
    this.#pods.set(member, pod);
    return member;
  }

  #lives(owner: string): boolean {
    const renewed = this.#leases.get(leaseName(owner))?.spec?.renewTime;
    return renewed !== undefined && this.#cluster.serverTime() - new Date(renewed).getTime() < LEASE_S * 1000;
  }

  /** The lease of an owner that is dead; one that was renewed after all stays. */
  async #removeLease(owner: string): Promise<void> {
    const lease = this.#leases.get(leaseName(owner));
    if (!lease) return;
    const { name, uid, resourceVersion } = lease.metadata!;
    await this.#call({ verb: 'delete', resource: 'leases', name: name! }, () =>
      this.#cluster.coordination
        .deleteNamespacedLease({
          namespace: this.#cluster.namespace,
          name: name!,
          body: { preconditions: { uid: uid!, resourceVersion: resourceVersion! } },
        })
        .catch((error: unknown) => ignore(error, [404, 409])),
    );
  }

  async #podOf(member: FleetMember): Promise<V1Pod | null> {
    const known = this.#pods.get(member);
    if (known) return known;
    const same = (other: FleetMember) =>
      other.id === member.id && other.run === member.run && other.created_at === member.created_at;
    const found = (await this.list()).find(same);
    return (found && this.#pods.get(found)) ?? null;
  }

  async #existing(member: FleetMember): Promise<V1Pod> {
    const pod = await this.#podOf(member);
    if (pod) return pod;
    throw new DartError('there is no such desktop', { where: member.id, hint: 'dart-env list' });
  }

  #call<T>(call: ApiCall, request: () => Promise<T>): Promise<T> {
    return this.#cluster.call(call, request);
  }
}
