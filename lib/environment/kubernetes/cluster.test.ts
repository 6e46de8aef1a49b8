import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DartError } from '../../errors.ts';
import { type Asked, fail } from './api_server.testing.ts';
import { client } from './client.testing.ts';
import { openCluster } from './cluster.ts';
import { Lab, QuickClock } from './lab.testing.ts';

describe.skipIf(!client)('the cluster', () => {
  let lab: Lab;
  let clock: QuickClock;

  beforeEach(async () => {
    clock = new QuickClock();
    lab = await Lab.start(clock);
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    await lab.close();
    expect(lab.api.problems).toEqual([]);
  });

  const list = () =>
    lab.cluster.call({ verb: 'list', resource: 'pods' }, () =>
      lab.cluster.core.listNamespacedPod({ namespace: lab.cluster.namespace }),
    );
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => Promise.reject(new Error('it did not fail')),
      (error: DartError) => error,
    );
  /** Answers the first `times` requests with a refusal. */
  function refuse(times: number, code: number, message = '', headers: Record<string, string> = {}): void {
    let left = times;
    lab.api.refuse = (_asked: Asked) => (left-- > 0 ? fail(code, 'Reason', message, headers) : null);
  }

  it('waits as long as "too many requests" says, and then asks again', async () => {
    refuse(2, 429, 'too many requests', { 'retry-after': '7' });
    await list();
    expect(lab.api.count('list', 'pods')).toBe(3);
    expect(clock.slept.map(Math.round)).toEqual([7000, 7000]);
  });

  it('waits a little longer each time where the server does not say how long', async () => {
    refuse(3, 503);
    await list();
    expect(clock.slept).toEqual([250, 500, 1000]);
  });

  it('is not waited for where it takes connections and does not answer', async () => {
    const cluster = await openCluster({ ...lab.clusterSettings, answerMs: 50 }, clock);
    const asked = vi.fn(() => new Promise<never>(() => {}));
    const error = await failure(cluster.call({ verb: 'list', resource: 'pods' }, asked));
    expect(error.describe()).toBe(
      `namespace desktops: the cluster at ${cluster.server} does not answer within 0.05 s. Try: kubectl get --raw /readyz`,
    );
    expect(asked).toHaveBeenCalledOnce();
  });

  it('gives up in the end, with the next step', async () => {
    refuse(Number.POSITIVE_INFINITY, 429, 'too many requests', { 'retry-after': '1' });
    expect(await failure(list())).toMatchObject({
      message: 'the cluster is too busy for us (list pods): too many requests',
      where: 'namespace desktops',
      hint: expect.stringContaining('--qps'),
    });
    expect(lab.api.count('list', 'pods')).toBe(6);
  });

  it.each([
    [401, '', /does not know who we are/, /kubectl auth whoami/],
    [403, 'exceeded quota: compute', /quota is used up/, /smaller desktops/],
    [403, 'violates PodSecurity "restricted:latest"', /Pod Security forbids it/, /--restricted/],
    [404, 'namespaces "x" not found', /no such thing/, /--namespace/],
    [422, 'spec.x: Invalid value', /does not take it/, /--label/],
  ])('says %i %s in words, once', async (code, message, expected, hint) => {
    refuse(1, code, message);
    const error = await failure(list());
    expect(error.message).toMatch(expected);
    expect(error.message).toContain(message);
    expect(error.hint).toMatch(hint);
    expect(lab.api.count('list', 'pods')).toBe(1);
  });

  it('names the verb that a role lacks', async () => {
    lab.api.rules = [];
    expect(await failure(list())).toMatchObject({
      message: expect.stringContaining('does not allow us to list pods'),
      hint: 'verb "list" on "pods" in a Role: docs/kubernetes/rbac.yaml has all that is needed',
    });
  });

  it('says where it looked when nobody answers', async () => {
    await lab.api.close();
    const error = await failure(list());
    expect(error.message).toMatch(/^the cluster at http:\/\/127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/);
    expect(error.hint).toContain('kubectl cluster-info');
  });

  it('takes namespace and context from the kubeconfig, and from options before it', async () => {
    const open = (more: object) => openCluster({ ...lab.clusterSettings, ...more });
    expect((await open({})).namespace).toBe('desktops');
    expect((await open({ context: 'elsewhere' })).namespace).toBe('other');
    expect((await open({ context: 'elsewhere', namespace: 'third' })).namespace).toBe('third');
    expect(await failure(open({ context: 'nowhere' }))).toMatchObject({ hint: 'test, elsewhere' });
  });

  it('says what is wrong with the kubeconfig', async () => {
    const open = (kubeconfig?: string) => failure(openCluster({ ...lab.clusterSettings, kubeconfig }));
    expect((await open('/nowhere/config')).message).toContain('cannot read the kubeconfig');
    vi.stubEnv('KUBECONFIG', '');
    vi.stubEnv('HOME', '/nowhere');
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '');
    expect((await open()).message).toBe('there is no kubeconfig, and we are not in a cluster');
    writeFileSync(lab.kubeconfig, '{"clusters": []}');
    expect((await open(lab.kubeconfig)).message).toMatch(/names no cluster|cannot read the kubeconfig/);
  });

  it("takes the server's time for its own", async () => {
    await list();
    expect(Math.abs(lab.cluster.serverTime() - Date.now())).toBeLessThan(60_000);
  });
});
