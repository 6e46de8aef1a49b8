import type { V1ObjectMeta, V1Pod, V1Probe, V1Toleration } from '@kubernetes/client-node';

/** What the API server checks of a pod beyond the schema, as far as our pods go. */
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const QUALIFIED = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const QUANTITY = /^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const ENV_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;
const UNITS: Record<string, number> = { m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const BINARY: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** What is wrong with names, labels and annotations. */
export function metaProblems(meta: V1ObjectMeta | undefined): string[] {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string) => holds || problems.push(problem);
  check(DNS_LABEL.test(meta?.name ?? ''), `metadata.name: ${meta?.name}`);
  for (const [key, value] of Object.entries(meta?.labels ?? {})) {
    check(QUALIFIED.test(key), `metadata.labels: key ${key}`);
    check(value.length <= 63 && LABEL_VALUE.test(value), `metadata.labels: value ${value}`);
  }
  for (const key of Object.keys(meta?.annotations ?? {}))
    check(QUALIFIED.test(key), `metadata.annotations: key ${key}`);
  for (const owner of meta?.ownerReferences ?? []) check(owner.uid !== '', 'metadata.ownerReferences: no uid');
  return problems;
}

/** What is wrong with a pod. */
export function podProblems(pod: V1Pod): string[] {
  const problems = metaProblems(pod.metadata);
  const check = (holds: boolean, problem: string) => holds || problems.push(problem);
  const spec = pod.spec;
  if (!spec) return [...problems, 'spec: missing'];
  check(['Always', 'OnFailure', 'Never'].includes(spec.restartPolicy ?? 'Always'), 'spec.restartPolicy');
  check((spec.terminationGracePeriodSeconds ?? 30) >= 0, 'spec.terminationGracePeriodSeconds');
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    check(QUALIFIED.test(key) && LABEL_VALUE.test(value), `spec.nodeSelector: ${key}=${value}`);
  }
  for (const toleration of spec.tolerations ?? []) problems.push(...tolerationProblems(toleration));
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  for (const volume of spec.volumes ?? []) {
    check(['', 'Memory'].includes(volume.emptyDir?.medium ?? ''), 'spec.volumes.emptyDir.medium');
    check(QUANTITY.test(volume.emptyDir?.sizeLimit ?? '0'), 'spec.volumes.emptyDir.sizeLimit');
  }
  check(spec.containers.length > 0, 'spec.containers: none');
  for (const container of spec.containers) {
    check(DNS_LABEL.test(container.name), 'spec.containers.name');
    check((container.image ?? '').trim() === container.image && container.image !== '', 'spec.containers.image');
    check(['Always', 'IfNotPresent', 'Never'].includes(container.imagePullPolicy ?? 'Always'), 'imagePullPolicy');
    const names = (container.ports ?? []).map(({ name }) => name ?? '');
    check(new Set(names).size === names.length, 'ports: a name twice');
    const numbers = (container.ports ?? []).map(({ containerPort }) => containerPort);
    check(new Set(numbers).size === numbers.length, 'ports: a port twice');
    for (const name of names) check(/^[a-z0-9-]{1,15}$/.test(name) && /[a-z]/.test(name), `ports.name: ${name}`);
    for (const port of numbers) check(Number.isInteger(port) && port > 0 && port < 65_536, `containerPort: ${port}`);
    for (const { name, value, valueFrom } of container.env ?? []) {
      check(ENV_NAME.test(name), `env.name: ${name}`);
      check(value === undefined || valueFrom === undefined, `env ${name}: value and valueFrom`);
    }
    const { requests = {}, limits = {} } = container.resources ?? {};
    for (const [what, amount] of [...Object.entries(requests), ...Object.entries(limits)]) {
      check(QUANTITY.test(amount), `resources.${what}: ${amount}`);
    }
    for (const [what, amount] of Object.entries(requests)) {
      check(!limits[what] || quantity(amount) <= quantity(limits[what]), `resources.${what}: more than its limit`);
    }
    for (const mount of container.volumeMounts ?? []) check(volumes.has(mount.name), `volumeMounts: ${mount.name}`);
    for (const probe of [container.startupProbe, container.readinessProbe]) {
      if (probe) problems.push(...probeProblems(probe, names));
    }
  }
  return problems;
}

function tolerationProblems({ key, operator, value, effect, tolerationSeconds }: V1Toleration): string[] {
  const problems: string[] = [];
  if (!['Exists', 'Equal'].includes(operator ?? 'Equal')) problems.push(`toleration: operator ${operator}`);
  if (operator === 'Exists' && value) problems.push('toleration: Exists with a value');
  if (key && !QUALIFIED.test(key)) problems.push(`toleration: key ${key}`);
  if (effect && !['NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect))
    problems.push(`toleration: ${effect}`);
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') problems.push('toleration: seconds without NoExecute');
  return problems;
}

function probeProblems(probe: V1Probe, ports: string[]): string[] {
  const problems: string[] = [];
  const port = probe.httpGet?.port;
  if (typeof port === 'string' && !ports.includes(port)) problems.push(`probe: no port ${port}`);
  if (probe.httpGet && !probe.httpGet.path?.startsWith('/')) problems.push('probe: path');
  for (const value of [probe.periodSeconds, probe.timeoutSeconds, probe.failureThreshold]) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1)) problems.push(`probe: ${value}`);
  }
  return problems;
}

function quantity(text: string): number {
  const [, digits = '0', unit = ''] = /^([\d.]+)(\w*)$/.exec(text) ?? [];
  return Number(digits) * (UNITS[unit] ?? BINARY[unit] ?? 1);
}
