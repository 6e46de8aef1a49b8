import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EnvironmentPool } from '../pool.ts';
import { fail } from './api_server.testing.ts';
import { client } from './client.testing.ts';
import { Lab, until } from './lab.testing.ts';

describe.skipIf(!client)('desktops as pods', { timeout: 120_000 }, () => {
  let lab: Lab;

  beforeEach(async () => {
    lab = await Lab.start();
  });

  afterEach(async () => {
    await lab.close();
    expect(lab.api.problems).toEqual([]);
  });

  it('starts 180 of them with one watch, and leaves nothing', async () => {
    const driver = lab.driver(180);
    const all = await Promise.all(Array.from({ length: 180 }, (_, i) => driver.start(i, `kubernetes-${i}`)));
    expect(new Set(all.map(({ serverUrl }) => serverUrl)).size).toBe(180);
    expect(all.map(({ guest }) => guest.screen)).toEqual(all.map(() => ({ width: 4, height: 3 })));
    const outputs = await Promise.all(all.map(({ guest }) => guest.execute(['hostname'])));
    expect(new Set(outputs.map(({ output }) => output.trim()))).toEqual(new Set(lab.names('pods')));
    expect(lab.names('leases')).toHaveLength(1);
    expect(lab.api.count('create', 'pods')).toBe(180);
    expect([lab.api.count('list', 'pods'), lab.api.count('watch', 'pods')]).toEqual([1, 1]);

    await Promise.all(all.map((desktop) => desktop.close()));
    expect([...lab.names('pods'), ...lab.names('leases')]).toEqual([]);
    await until(() => lab.api.watching === 0);
  });

  it('says what a pod asks for, who it belongs to, and gives it no credentials', async () => {
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    const pod = lab.api.store.list('pods', 'dart.env=kubernetes-0,dart.driver=kubernetes')[0]!;
    const lease = lab.api.store.list('leases', '')[0]!;
    expect(pod.metadata).toMatchObject({
      annotations: { 'dart.run': 'run 7' },
      ownerReferences: [{ kind: 'Lease', uid: lease.metadata.uid }],
    });
    expect(pod.metadata.labels!['dart.run']).toMatch(/^run-7-[0-9a-f]{10}$/);
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      volumes: [{ emptyDir: { medium: 'Memory', sizeLimit: '536870912' } }],
      containers: [
        {
          resources: {
            requests: { cpu: '1000m', memory: '2147483648' },
            limits: { cpu: '2000m', memory: '2147483648' },
          },
        },
      ],
    });
    await desktop.close();
  });

  it('replaces an evicted pod, and says that it was evicted', async () => {
    const pool = new EnvironmentPool([lab.driver(1)], { retryMs: 1 });
    const first = await pool.lease();
    await first.reset(1);
    const [name] = lab.names('pods');
    await lab.kubelet.evict(name!);
    const error = await first.guest.execute(['true']).catch((error: unknown) => error);
    expect(String(error)).toContain('the desktop is gone: it was evicted: The node was low on resource: memory.');
    pool.release(first, { failed: error });
    const second = await pool.lease();
    expect((await second.guest.execute(['true'])).returncode).toBe(0);
    expect(second.id).not.toBe(first.id);
    pool.release(second);
    await pool.close();
    await until(() => lab.names('pods').length === 0);
    expect(lab.names('leases')).toEqual([]);
  });

  it('breaks off what a desktop was doing when its memory runs out', async () => {
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    lab.kubelet.hangs = true;
    const asked = lab.kubelet.requests.length;
    const call = desktop.guest.execute(['sleep', '1000']).catch((error: unknown) => error);
    await until(() => lab.kubelet.requests.length > asked);
    await lab.kubelet.oomKill(lab.names('pods')[0]!);
    expect(await call).toMatchObject({
      message: 'the desktop is gone: it used more memory than its limit (OOMKilled)',
      hint: expect.stringContaining('--memory'),
    });
    await desktop.close();
  });

  it('breaks it off too where the connection stays, as when a node is lost', async () => {
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    lab.kubelet.hangs = true;
    const asked = lab.kubelet.requests.length;
    const call = desktop.guest.execute(['sleep', '1000']).catch((error: unknown) => error);
    await until(() => lab.kubelet.requests.length > asked);
    lab.kubelet.status(lab.names('pods')[0]!, { phase: 'Running', reason: 'NodeLost', message: 'node-3 is silent' });
    expect(await call).toMatchObject({ message: 'the desktop is gone: its node is lost: node-3 is silent' });
    await desktop.close();
  });

  it('asks why where the watch cannot tell', async () => {
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    lab.api.refuse = ({ verb }) => (verb === 'watch' ? fail(500, 'InternalError', 'etcd is away') : null);
    lab.api.dropWatches();
    await until(() => lab.api.watching === 0);
    const [name] = lab.names('pods');
    await lab.kubelet.evict(name!);
    await expect(desktop.guest.execute(['true'])).rejects.toThrow('it was evicted');
    await desktop.close();
    expect(lab.names('pods')).toEqual([]);
  });

  it('is good for one rollout, or resets its session', async () => {
    const fresh = await lab.driver(1).start(0, 'kubernetes-0');
    expect(fresh.disposable).toBe(true);
    await fresh.reset(1);
    await expect(fresh.reset(2)).rejects.toThrow('only another pod is clean');
    const again = await lab.driver(1, { reset: 'session' }).start(0, 'kubernetes-1');
    expect(again.disposable).toBe(false);
    await again.reset(1);
    await again.reset(2);
    expect(lab.kubelet.requests.filter(({ request }) => request === 'POST /reset')).toHaveLength(2);
    await Promise.all([fresh.close(), again.close()]);
  });

  it('waits for a slow scheduler and says why, once for all', async () => {
    lab.kubelet.automatic = false;
    const driver = lab.driver(3);
    const starts = [0, 1, 2].map((i) => driver.start(i, `kubernetes-${i}`));
    await until(() => lab.names('pods').length === 3);
    for (const name of lab.names('pods')) lab.kubelet.unschedulable(name, '0/4 nodes: 4 Insufficient memory.');
    await until(() => lab.told.length > 0);
    for (const name of lab.names('pods')) await lab.kubelet.run(name);
    const all = await Promise.all(starts);
    expect(lab.told).toHaveLength(1);
    expect(lab.told[0]).toMatch(
      /no node has room for it \(Unschedulable\): 0\/4 nodes: 4 Insufficient memory\..*--memory/,
    );
    await Promise.all(all.map((desktop) => desktop.close()));
  });

  it.each([
    ['ErrImagePull', 'registry.test/dart-desktop:slim: not found', /cannot be pulled \(ErrImagePull\).*not found/],
    ['CreateContainerConfigError', 'secret "x" not found', /cannot start \(CreateContainerConfigError\)/],
  ])('gives up on %s, and leaves no pod', async (reason, message, expected) => {
    lab.kubelet.automatic = false;
    const start = lab.driver(1).start(0, 'kubernetes-0');
    const failed = start.catch((error: unknown) => error);
    await until(() => lab.names('pods').length === 1);
    lab.kubelet.waits(lab.names('pods')[0]!, reason, message);
    expect(String(await failed)).toMatch(expected);
    expect([...lab.names('pods'), ...lab.names('leases')]).toEqual([]);
  });

  it('bears with a registry for a while', async () => {
    lab.kubelet.automatic = false;
    const patient = lab.driver(1).start(0, 'kubernetes-0');
    const hasty = lab.driver(1, { imagePatienceMs: 1 }).start(0, 'kubernetes-1');
    const failed = hasty.catch((error: unknown) => error);
    await until(() => lab.names('pods').length === 2);
    for (const name of lab.names('pods')) lab.kubelet.waits(name, 'ImagePullBackOff', 'i/o timeout');
    expect(String(await failed)).toContain('i/o timeout');
    await lab.kubelet.run(lab.names('pods')[0]!);
    await (await patient).close();
  });

  it('leaves no pod when it is stopped, or too slow', async () => {
    lab.kubelet.automatic = false;
    const stop = new AbortController();
    const start = lab.driver(1).start(0, 'kubernetes-0', stop.signal);
    const failed = start.catch((error: unknown) => error);
    await until(() => lab.names('pods').length === 1);
    stop.abort(new Error('enough'));
    expect(String(await failed)).toContain('enough');
    expect([...lab.names('pods'), ...lab.names('leases')]).toEqual([]);

    await expect(lab.driver(1, { startTimeoutMs: 50 }).start(0, 'kubernetes-0')).rejects.toThrow('not ready after');
    expect([...lab.names('pods'), ...lab.names('leases')]).toEqual([]);
  });

  it('says which permission is missing, leaves nothing, and can try again', async () => {
    lab.api.rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'delete'] }];
    const driver = lab.driver(2);
    const starts = await Promise.allSettled([0, 1].map((i) => driver.start(i, `kubernetes-${i}`)));
    for (const start of starts)
      expect(String((start as PromiseRejectedResult).reason)).toContain('allow us to list pods');
    expect(lab.names('leases')).toEqual([]);
    lab.api.rules = null;
    await (await driver.start(0, 'kubernetes-0r1')).close();
  });

  it('leaves no pod whose creation was never answered', async () => {
    const answered = lab.api.onPod;
    lab.api.onPod = (pod) => {
      answered(pod);
      lab.api.onPod = answered;
      lab.api.dropConnections();
    };
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    expect(lab.names('pods')).toHaveLength(1);
    await desktop.close();
    expect(lab.names('pods')).toEqual([]);
  });

  it('touches nothing of others', async () => {
    const other = lab.driver(1);
    const theirs = await other.start(0, 'kubernetes-0');
    const foreign = { metadata: { name: 'database' } } as never;
    lab.api.store.create('pods', foreign, lab.api.namespace);
    const before = [...lab.names('pods'), ...lab.names('leases')];
    const driver = lab.driver(2);
    const ours = await Promise.all([0, 1].map((i) => driver.start(i, `kubernetes-${i}`)));
    await Promise.all(ours.map((desktop) => desktop.close()));
    expect([...lab.names('pods'), ...lab.names('leases')]).toEqual(before);

    // A pod that has taken the name of ours.
    const desktop = await driver.start(0, 'kubernetes-0');
    const name = lab.names('pods').find((name) => !before.includes(name))!;
    const { metadata, ...rest } = lab.api.store.get('pods', name)!;
    lab.kubelet.kill(name);
    lab.api.store.create('pods', { ...rest, metadata: { ...metadata, ownerReferences: [] } }, lab.api.namespace);
    await desktop.close();
    expect(lab.names('pods')).toContain(name);
    await theirs.close();
  });

  it('reaches a pod through the API server, on loopback', async () => {
    const desktop = await lab.driver(1, { address: 'forward' }).start(0, 'kubernetes-0');
    const url = new URL(desktop.serverUrl!);
    expect(url.hostname).toBe('127.0.0.1');
    const texts = await Promise.all([1, 2, 3].map(() => desktop.guest.execute(['hostname'])));
    expect(texts.map(({ output }) => output.trim())).toEqual(Array(3).fill(lab.names('pods')[0]));
    expect(lab.api.count('create', 'pods/portforward')).toBeGreaterThan(0);
    await desktop.close();
    await expect(fetch(`http://127.0.0.1:${url.port}/`)).rejects.toThrow();
  });

  it('fails like any other desktop where nobody listens behind the API server', async () => {
    lab.api.dial = () => null;
    const start = lab.driver(1, { address: 'forward', startTimeoutMs: 2000 }).start(0, 'kubernetes-0');
    await expect(start).rejects.toThrow('not ready after 2 s');
    expect(lab.names('pods')).toEqual([]);
  });

  it('belongs to the pod that it is started from', async () => {
    lab.api.store.create('pods', { metadata: { name: 'job-x1' } } as never, lab.api.namespace);
    const { uid } = lab.api.store.get('pods', 'job-x1')!.metadata;
    await lab.driver(1, { cluster: lab.inside('job-x1') }).start(0, 'kubernetes-0');
    const all = [...lab.api.store.list('pods', 'dart.driver=kubernetes'), ...lab.api.store.list('leases', '')];
    expect(all.map(({ metadata }) => metadata.ownerReferences)).toMatchObject([[{ kind: 'Pod', uid }], [{ uid }]]);
    lab.kubelet.kill('job-x1');
    expect([...lab.names('pods'), ...lab.names('leases')]).toEqual([]);
  });
});
