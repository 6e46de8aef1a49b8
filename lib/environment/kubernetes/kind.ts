import type { DriverKind, KindOption } from '../kind.ts';

const GIB = 1024 ** 3;

const options: readonly KindOption[] = [
  { name: 'image', type: 'string', value: 'IMAGE', describe: 'Image of the desktop, as the nodes pull it' },
  { name: 'pull-policy', type: 'string', choices: ['Always', 'IfNotPresent', 'Never'], describe: 'When to pull it' },
  { name: 'pull-secret', type: 'list', value: 'NAME', describe: 'Secret with the credentials of its registry' },
  {
    name: 'namespace',
    type: 'string',
    value: 'NAME',
    fleet: true,
    describe: "Namespace of the pods; else the context's",
  },
  {
    name: 'kubeconfig',
    type: 'string',
    value: 'FILE',
    fleet: true,
    describe: 'Else KUBECONFIG, ~/.kube/config, or the pod we are in',
  },
  {
    name: 'context',
    type: 'string',
    value: 'NAME',
    fleet: true,
    describe: 'Context of the kubeconfig; else its current one',
  },
  {
    name: 'address',
    type: 'string',
    choices: ['pod', 'forward'],
    describe: "The pod's own address, or a port-forward on loopback; pod inside the cluster, forward outside",
  },
  { name: 'port', type: 'integer', value: 'PORT', min: 1, max: 65535, default: 5000, describe: 'Of the guest server' },
  {
    name: 'cdp-port',
    type: 'integer',
    value: 'PORT',
    min: 0,
    max: 65535,
    default: 9222,
    describe: "Chrome's; 0: none",
  },
  { name: 'vlc-port', type: 'integer', value: 'PORT', min: 0, max: 65535, default: 8080, describe: "VLC's; 0: none" },
  { name: 'vnc-port', type: 'integer', value: 'PORT', min: 0, max: 65535, default: 0, describe: "NoVNC's; 0: none" },
  { name: 'cpu', type: 'number', value: 'CORES', min: 0.01, default: 1, describe: 'Cores that a desktop asks for' },
  { name: 'cpu-limit', type: 'number', value: 'CORES', min: 0.01, default: 2, describe: 'Cores that it may use' },
  { name: 'memory', type: 'bytes', value: 'SIZE', default: 2 * GIB, describe: 'Memory that a desktop asks for' },
  { name: 'memory-limit', type: 'bytes', value: 'SIZE', describe: 'Memory that it may use; else what it asks for' },
  { name: 'shm', type: 'bytes', value: 'SIZE', default: GIB / 2, describe: '/dev/shm, part of its memory' },
  { name: 'size', type: 'string', value: 'WxH', default: '1280x800', describe: 'Screen in pixels, for our image' },
  { name: 'env', type: 'list', value: 'NAME=VALUE', describe: 'Environment variable of the desktop' },
  { name: 'label', type: 'list', value: 'NAME=VALUE', describe: 'Further label of the pods' },
  { name: 'node-selector', type: 'list', value: 'NAME=VALUE', describe: 'Only nodes with this label' },
  {
    name: 'toleration',
    type: 'list',
    value: 'NAME[=VALUE][:EFFECT]',
    describe: 'Taint of nodes that pods put up with',
  },
  { name: 'service-account', type: 'string', value: 'NAME', describe: 'Of the pods; its token is never mounted' },
  { name: 'priority-class', type: 'string', value: 'NAME', describe: 'Of the pods' },
  { name: 'runtime-class', type: 'string', value: 'NAME', describe: 'Of the pods, such as gvisor or kata' },
  { name: 'user', type: 'integer', value: 'UID', min: 1, describe: "Run as this user in place of the image's" },
  { name: 'restricted', type: 'boolean', describe: 'What a namespace with Pod Security "restricted" wants (no sudo)' },
  { name: 'reset', type: 'string', choices: ['pod', 'session'], default: 'pod', describe: 'A new pod, or POST /reset' },
  {
    name: 'start-timeout',
    type: 'integer',
    value: 'S',
    min: 1,
    default: 300,
    describe: 'Limit for a pod to get ready',
  },
  { name: 'qps', type: 'number', value: 'N', min: 0.1, default: 20, describe: 'Requests to the API server per second' },
  { name: 'burst', type: 'integer', value: 'N', min: 1, default: 40, describe: 'Requests that may go at once' },
  { name: 'grace', type: 'integer', value: 'S', min: 0, default: 5, describe: 'Time that a pod has to end' },
];

/** Desktops as pods of a Kubernetes cluster (docs/kubernetes.md). */
export const kubernetesKind: DriverKind = {
  name: 'kubernetes',
  summary: 'pods of a Kubernetes cluster, one for each desktop',
  options,
  detachable: true,
  async check(values) {
    const { driverSettings } = await import('./settings.ts');
    driverSettings(values);
  },
  async open(count, values, open) {
    const { openKubernetes } = await import('./open.ts');
    return openKubernetes(count, values, open);
  },
  async fleet(values) {
    const { openFleet } = await import('./open.ts');
    return openFleet(values);
  },
};
