import { describe, expect, it } from 'vitest';
import { thrown } from '../../errors.testing.ts';
import { labelValue, podName } from './names.ts';
import { podManifest } from './pod.ts';
import { podProblems } from './rules.testing.ts';
import { driverSettings } from './settings.ts';

const identity = { name: 'dart-x', envId: 'e', runId: 'r', owner: 'o', token: 't', detached: false };

describe('options of pods', () => {
  it('become a pod that says all of it', () => {
    const settings = driverSettings({
      ...{
        image: 'a/b:1',
        'pull-policy': 'Always',
        'pull-secret': ['reg'],
        cpu: 0.5,
        'cpu-limit': 1.5,
        memory: 2 ** 30,
      },
      ...{ 'memory-limit': 2 ** 31, shm: 2 ** 28, env: ['A=b=c'], label: ['team=x'], 'node-selector': ['disk=ssd'] },
      ...{ toleration: ['gpu', 'desktops=yes:NoSchedule', 'x:NoExecute'], 'service-account': 'sa', user: 1000 },
      ...{
        'priority-class': 'low',
        'runtime-class': 'kata',
        restricted: true,
        grace: 0,
        size: '1920x1080',
        'vnc-port': 8006,
      },
    });
    const pod = podManifest(settings, identity);
    expect(podProblems(pod)).toEqual([]);
    expect(pod.metadata!.labels).toMatchObject({ team: 'x', 'dart.owner': 'o' });
    expect(pod.spec).toMatchObject({
      ...{ nodeSelector: { disk: 'ssd' }, imagePullSecrets: [{ name: 'reg' }], serviceAccountName: 'sa' },
      ...{ priorityClassName: 'low', runtimeClassName: 'kata', terminationGracePeriodSeconds: 0 },
    });
    expect(pod.spec!.tolerations!.slice(2)).toEqual([
      { key: 'gpu', operator: 'Exists' },
      { key: 'desktops', operator: 'Equal', value: 'yes', effect: 'NoSchedule' },
      { key: 'x', operator: 'Exists', effect: 'NoExecute' },
    ]);
    const [container] = pod.spec!.containers;
    expect(container).toMatchObject({
      imagePullPolicy: 'Always',
      resources: {
        requests: { cpu: '500m', memory: '1073741824' },
        limits: { cpu: '1500m', memory: '2147483648' },
      },
      securityContext: { runAsUser: 1000, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
    });
    expect(container!.env).toEqual([
      { name: 'DART_SCREEN', value: '1920x1080' },
      { name: 'A', value: 'b=c' },
      { name: 'DART_GUEST_TOKEN', value: 't' },
    ]);
    expect(container!.ports!.map(({ containerPort }) => containerPort)).toEqual([5000, 9222, 8080, 8006]);
  });

  it.each([
    [{}, 'there is no image for the desktops'],
    [{ image: 'x', env: ['A'] }, 'cannot read "A"'],
    [{ image: 'x', toleration: ['a:Never'] }, 'cannot read "a:Never"'],
    [{ image: 'x', size: 'large' }, '"large" is no size of a screen'],
    [{ image: 'x', memory: 2, 'memory-limit': 1 }, '2 is more than the limit 1'],
  ])('that are wrong are named: %j', (values, message) => {
    const error = thrown(() => driverSettings(values));
    expect(error.message).toBe(message);
    expect(error.hint).toBeTruthy();
  });

  it('the limit of cores follows what is asked for', () => {
    expect(driverSettings({ image: 'x', cpu: 4 }).cpuLimit).toBe(4);
    expect(driverSettings({ image: 'x', cpu: 0.5 }).cpuLimit).toBe(2);
  });
});

describe('names', () => {
  it('fit into labels, and stay apart where something had to go', () => {
    expect(labelValue('run-7')).toBe('run-7');
    for (const text of ['', '-', 'a b', 'ü', 'x'.repeat(100), '_x_', `${'x'.repeat(49)}.${'y'.repeat(20)}`]) {
      expect(labelValue(text)).toMatch(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
    }
    expect(labelValue('a b')).not.toBe(labelValue('a-b'));
    expect(labelValue('a b')).not.toBe(labelValue('a/b'));
  });

  it('of pods are DNS labels, new each time', () => {
    for (const id of ['kubernetes-12r3', 'Ümlaut', '---', 'x'.repeat(200), '']) {
      expect(podName('0123456789', id)).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])$/);
    }
    const names = Array.from({ length: 50 }, () => podName('0123456789', 'e'));
    expect(new Set(names).size).toBeGreaterThan(45);
  });
});
