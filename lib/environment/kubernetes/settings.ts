import type { V1Toleration } from '@kubernetes/client-node';
import { DartError } from '../../errors.ts';
import type { KindValues } from '../kind.ts';

/** Where the cluster is and how hard we may press it. */
export interface ClusterSettings {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  /** Requests to the API server per second, and how many may go at once after a pause. */
  qps: number;
  burst: number;
  /** How long the API server may take to answer, ms. */
  answerMs?: number;
}

/** What a desktop's pod is to be like. */
export interface PodSettings {
  image: string;
  pullPolicy?: string;
  pullSecrets: readonly string[];
  port: number;
  /** Other ports of a desktop; absent where it has none. */
  cdpPort?: number;
  vlcPort?: number;
  vncPort?: number;
  /** Cores. */
  cpu: number;
  cpuLimit: number;
  /** Bytes. */
  memory: number;
  memoryLimit: number;
  shm: number;
  env: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string>>;
  nodeSelector: Readonly<Record<string, string>>;
  tolerations: readonly V1Toleration[];
  serviceAccount?: string;
  priorityClass?: string;
  runtimeClass?: string;
  user?: number;
  restricted: boolean;
  /** Seconds between the request to end and the kill. */
  grace: number;
}

/** How the driver goes about it. */
export interface DriverSettings extends PodSettings {
  /** Absent: the pod's own inside the cluster, a port-forward outside. */
  address?: 'pod' | 'forward';
  reset: 'pod' | 'session';
  startTimeoutMs: number;
  /** How long a registry may be in trouble before a start is given up. */
  imagePatienceMs: number;
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The options that say which cluster. */
export function clusterSettings(values: KindValues): ClusterSettings {
  return {
    kubeconfig: text(values, 'kubeconfig'),
    context: text(values, 'context'),
    namespace: text(values, 'namespace'),
    qps: number(values, 'qps', 20),
    burst: number(values, 'burst', 40),
  };
}

/** The options of the pods. @throws DartError without an image, on a pair or a toleration that cannot be read. */
export function driverSettings(values: KindValues): DriverSettings {
  const image = text(values, 'image');
  if (!image) {
    throw new DartError('there is no image for the desktops', {
      where: '--image',
      hint: '--image REGISTRY/dart-desktop:slim, pushed to where the nodes can pull it (docs/kubernetes.md)',
    });
  }
  const memory = number(values, 'memory', 2 * 1024 ** 3);
  const settings: DriverSettings = {
    image,
    pullPolicy: text(values, 'pull-policy'),
    pullSecrets: list(values, 'pull-secret'),
    port: number(values, 'port', 5000),
    cdpPort: number(values, 'cdp-port', 9222) || undefined,
    vlcPort: number(values, 'vlc-port', 8080) || undefined,
    vncPort: number(values, 'vnc-port', 0) || undefined,
    cpu: number(values, 'cpu', 1),
    cpuLimit: number(values, 'cpu-limit', Math.max(2, number(values, 'cpu', 1))),
    memory,
    memoryLimit: number(values, 'memory-limit', memory),
    shm: number(values, 'shm', 512 * 1024 ** 2),
    env: { ...screen(values), ...pairs(values, 'env') },
    labels: pairs(values, 'label'),
    nodeSelector: pairs(values, 'node-selector'),
    tolerations: list(values, 'toleration').map(toleration),
    serviceAccount: text(values, 'service-account'),
    priorityClass: text(values, 'priority-class'),
    runtimeClass: text(values, 'runtime-class'),
    user: values.user === undefined ? undefined : Number(values.user),
    restricted: values.restricted === true,
    grace: number(values, 'grace', 5),
    address: text(values, 'address') as DriverSettings['address'],
    reset: text(values, 'reset') === 'session' ? 'session' : 'pod',
    startTimeoutMs: number(values, 'start-timeout', 300) * 1000,
    imagePatienceMs: 60_000,
  };
  requireOrder('cpu', settings.cpu, settings.cpuLimit);
  requireOrder('memory', settings.memory, settings.memoryLimit);
  return settings;
}

function requireOrder(name: string, request: number, limit: number): void {
  if (request <= limit) return;
  throw new DartError(`${request} is more than the limit ${limit}`, {
    where: `--${name}`,
    hint: `--${name}-limit at least as large`,
  });
}

function toleration(written: string): V1Toleration {
  const match = /^([^=:]+)(?:=([^:]*))?(?::(\w+))?$/.exec(written);
  const [, key, value, effect] = match ?? [];
  if (!key || (effect !== undefined && !EFFECTS.includes(effect))) {
    throw new DartError(`cannot read "${written}"`, {
      where: '--toleration',
      hint: `desktops=yes:NoSchedule; effects are ${EFFECTS.join(', ')}`,
    });
  }
  const what = value === undefined ? { operator: 'Exists' } : { operator: 'Equal', value };
  return { key, ...what, ...(effect === undefined ? {} : { effect }) };
}

/** The variable by which our image learns the size of its screen. */
function screen(values: KindValues): Record<string, string> {
  const size = text(values, 'size');
  if (size === undefined) return {};
  if (/^[1-9]\d{1,4}x[1-9]\d{1,4}$/.test(size)) return { DART_SCREEN: size };
  throw new DartError(`"${size}" is no size of a screen`, { where: '--size', hint: '--size 1280x800' });
}

function pairs(values: KindValues, name: string): Record<string, string> {
  return Object.fromEntries(
    list(values, name).map((written) => {
      const at = written.indexOf('=');
      if (at > 0) return [written.slice(0, at), written.slice(at + 1)];
      throw new DartError(`cannot read "${written}"`, { where: `--${name}`, hint: `--${name} NAME=VALUE` });
    }),
  );
}

function text(values: KindValues, name: string): string | undefined {
  const value = values[name];
  return value === undefined || value === '' ? undefined : String(value);
}

function number(values: KindValues, name: string, otherwise: number): number {
  const value = values[name];
  return value === undefined ? otherwise : Number(value);
}

function list(values: KindValues, name: string): readonly string[] {
  const value = values[name];
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [String(value)];
}
