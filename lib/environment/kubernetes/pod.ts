import type { V1Container, V1OwnerReference, V1Pod, V1PodSpec, V1Probe, V1Toleration } from '@kubernetes/client-node';
import { CONTAINER, DETACHED, LABEL, labelValue, TOKEN_VARIABLE } from './names.ts';
import type { PodSettings } from './settings.ts';

export interface PodIdentity {
  name: string;
  envId: string;
  runId: string;
  owner: string;
  /** What the guest server wants to see in each request. */
  token: string;
  detached: boolean;
  /** Goes, and takes the pod along; absent for a detached desktop. */
  ownedBy?: V1OwnerReference;
}

/** A node that is lost is given up after half a minute, not after Kubernetes' five. */
const LOST_NODE: V1Toleration[] = ['not-ready', 'unreachable'].map((what) => ({
  key: `node.kubernetes.io/${what}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 30,
}));

/** The pod of one desktop. */
export function podManifest(settings: PodSettings, identity: PodIdentity): V1Pod {
  const { runId, envId, owner } = identity;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: identity.name,
      labels: {
        ...settings.labels,
        [LABEL.run]: labelValue(runId),
        [LABEL.env]: labelValue(envId),
        [LABEL.driver]: 'kubernetes',
        [LABEL.owner]: owner,
      },
      annotations: {
        [LABEL.run]: runId,
        [LABEL.env]: envId,
        ...(identity.detached ? { [DETACHED]: 'true' } : {}),
        // The autoscaler would move a desktop in the middle of a rollout.
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
      },
      ...(identity.ownedBy ? { ownerReferences: [identity.ownedBy] } : {}),
    },
    spec: podSpec(settings, identity.token),
  };
}

function podSpec(settings: PodSettings, token: string): V1PodSpec {
  return {
    containers: [container(settings, token)],
    volumes: [{ name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: String(settings.shm) } }],
    // A desktop that ended is replaced by a clean one, not started again on top of its remains.
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: settings.grace,
    // A model acts in there: it gets no credentials of the cluster, and learns no addresses of its services.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    tolerations: [...LOST_NODE, ...settings.tolerations],
    ...unlessEmpty('nodeSelector', settings.nodeSelector),
    ...(settings.pullSecrets.length > 0 ? { imagePullSecrets: settings.pullSecrets.map((name) => ({ name })) } : {}),
    ...(settings.serviceAccount ? { serviceAccountName: settings.serviceAccount } : {}),
    ...(settings.priorityClass ? { priorityClassName: settings.priorityClass } : {}),
    ...(settings.runtimeClass ? { runtimeClassName: settings.runtimeClass } : {}),
  };
}

function container(settings: PodSettings, token: string): V1Container {
  const ports = [
    { name: 'guest', containerPort: settings.port },
    ...(settings.cdpPort ? [{ name: 'cdp', containerPort: settings.cdpPort }] : []),
    ...(settings.vlcPort ? [{ name: 'vlc', containerPort: settings.vlcPort }] : []),
    ...(settings.vncPort ? [{ name: 'vnc', containerPort: settings.vncPort }] : []),
  ];
  return {
    name: CONTAINER,
    image: settings.image,
    ...(settings.pullPolicy ? { imagePullPolicy: settings.pullPolicy } : {}),
    env: [
      ...Object.entries(settings.env).map(([name, value]) => ({ name, value })),
      { name: TOKEN_VARIABLE, value: token },
    ],
    ports,
    resources: {
      requests: { cpu: cores(settings.cpu), memory: String(settings.memory) },
      limits: { cpu: cores(settings.cpuLimit), memory: String(settings.memoryLimit) },
    },
    volumeMounts: [{ name: 'shm', mountPath: '/dev/shm' }],
    // Ready means that a picture came; from then on a cheaper question will do. How long it may take is our affair.
    startupProbe: { ...probe('/screenshot', token), periodSeconds: 2, failureThreshold: 10_000 },
    readinessProbe: { ...probe('/platform', token), periodSeconds: 10, failureThreshold: 3 },
    ...securityOf(settings),
  };
}

function probe(path: string, token: string): V1Probe {
  const httpHeaders = [{ name: 'Authorization', value: `Bearer ${token}` }];
  return { httpGet: { path, port: 'guest', httpHeaders }, timeoutSeconds: 10 };
}

function securityOf(settings: PodSettings): Pick<V1Container, 'securityContext'> {
  const user = settings.user === undefined ? {} : { runAsUser: settings.user };
  if (!settings.restricted) return settings.user === undefined ? {} : { securityContext: user };
  return {
    securityContext: {
      ...user,
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
}

/** `1500m`: the API rounds nothing and knows no finer part. */
function cores(value: number): string {
  return `${Math.round(value * 1000)}m`;
}

function unlessEmpty(name: 'nodeSelector', values: Readonly<Record<string, string>>): Partial<V1PodSpec> {
  return Object.keys(values).length > 0 ? { [name]: { ...values } } : {};
}
