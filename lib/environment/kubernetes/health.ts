import type { V1ContainerStatus, V1Pod, V1PodCondition } from '@kubernetes/client-node';
import { CONTAINER } from './names.ts';

/** How a desktop's pod is, in words for people. */
export type Health =
  | { state: 'ready' }
  /** `refused`: the registry says no, or the node cannot make the container; waiting longer does not help. */
  | { state: 'waiting'; why?: string; hint?: string; trouble?: 'image' | 'refused' }
  | { state: 'gone'; why: string; hint: string };

const REFUSED = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);
const IMAGE = new Set(['ErrImagePull', 'ImagePullBackOff', 'ImageInspectError', 'RegistryUnavailable']);
/** Answers of a registry that stay the same however often one asks. */
const FINAL = /not found|unauthorized|denied|manifest unknown|no basic auth|forbidden|does not exist/i;
const IMAGE_HINT = 'kubectl describe pod; --image as the nodes pull it, --pull-secret for a private registry';

/** Reads a pod's status. `deleted` when the API server says that it is no more. */
export function healthOf(pod: V1Pod, deleted = false): Health {
  const status = pod.status ?? {};
  // The cluster may have put others beside it.
  const container = status.containerStatuses?.find(({ name }) => name === CONTAINER);
  const disrupted = condition(pod, 'DisruptionTarget');
  const ended = endedBy(pod, container, disrupted);
  if (ended) return { state: 'gone', ...ended };
  if (deleted || pod.metadata?.deletionTimestamp) return { state: 'gone', ...deletedBy(disrupted) };
  if (condition(pod, 'Ready')?.status === 'True' && status.podIP) return { state: 'ready' };
  return waitingFor(pod, container);
}

function endedBy(
  pod: V1Pod,
  container: V1ContainerStatus | undefined,
  disrupted: V1PodCondition | undefined,
): { why: string; hint: string } | null {
  const { reason, message, phase } = pod.status ?? {};
  const said = message ? `: ${oneLine(message)}` : '';
  const terminated = container?.state?.terminated;
  if (reason === 'NodeLost' || phase === 'Unknown') {
    return { why: `its node is lost${said}`, hint: 'kubectl get nodes' };
  }
  if (terminated?.reason === 'OOMKilled') {
    return { why: 'it used more memory than its limit (OOMKilled)', hint: 'more with --memory, such as --memory 4g' };
  }
  if (reason === 'Evicted') {
    return { why: `it was evicted${said}`, hint: '--memory as much as a desktop really uses, or other nodes' };
  }
  const ended = phase === 'Failed' || phase === 'Succeeded' || terminated !== undefined;
  if (!ended) return null;
  if (disrupted) return deletedBy(disrupted);
  if (reason) return { why: `it ended: ${reason}${said}`, hint: 'kubectl get events' };
  if (!terminated) return { why: `it ended${said}`, hint: 'kubectl get events' };
  const detail = terminated.message ? `: ${oneLine(terminated.message)}` : '';
  return {
    why: `its program ended with status ${terminated.exitCode} (${terminated.reason ?? 'no reason'})${detail}`,
    hint: 'dart-env logs; --detach keeps a pod that starts, to look at',
  };
}

function deletedBy(disrupted: V1PodCondition | undefined): { why: string; hint: string } {
  const said = disrupted?.message ? `: ${oneLine(disrupted.message)}` : '';
  switch (disrupted?.reason) {
    case 'EvictionByEvictionAPI':
      return { why: `it was evicted, as when a node is drained${said}`, hint: 'a PodDisruptionBudget, or other nodes' };
    case 'PreemptionByScheduler':
      return { why: `a pod with a higher priority took its place${said}`, hint: '--priority-class' };
    case 'DeletionByTaintManager':
      return { why: `its node is lost or was tainted${said}`, hint: 'kubectl get nodes; --toleration' };
    case 'TerminationByKubelet':
      return { why: `its node ended it${said}`, hint: 'kubectl get events' };
    default:
      return { why: `somebody deleted the pod${said}`, hint: 'kubectl get events' };
  }
}

function waitingFor(pod: V1Pod, container: V1ContainerStatus | undefined): Health {
  const scheduled = condition(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    const said = scheduled.message ? `: ${oneLine(scheduled.message)}` : '';
    return {
      state: 'waiting',
      why: `no node has room for it (${scheduled.reason ?? 'not scheduled'})${said}`,
      hint: 'fewer desktops, less with --cpu and --memory, other nodes with --node-selector or --toleration',
    };
  }
  const waiting = container?.state?.waiting;
  if (!waiting?.reason) return { state: 'waiting' };
  const said = waiting.message ? `: ${oneLine(waiting.message)}` : '';
  if (IMAGE.has(waiting.reason)) {
    const trouble = FINAL.test(waiting.message ?? '') ? 'refused' : 'image';
    return {
      state: 'waiting',
      why: `its image cannot be pulled (${waiting.reason})${said}`,
      hint: IMAGE_HINT,
      trouble,
    };
  }
  if (waiting.reason === 'CrashLoopBackOff') {
    const last = container?.lastState?.terminated;
    const how = last ? ` with status ${last.exitCode} (${last.reason ?? 'no reason'})` : '';
    return {
      state: 'waiting',
      why: `its program keeps ending${how}, CrashLoopBackOff${said}`,
      hint: 'kubectl logs --previous',
      trouble: 'refused',
    };
  }
  if (REFUSED.has(waiting.reason)) {
    const hint = waiting.reason.includes('Image') ? IMAGE_HINT : 'kubectl describe pod';
    return { state: 'waiting', why: `its container cannot start (${waiting.reason})${said}`, hint, trouble: 'refused' };
  }
  // ContainerCreating, PodInitializing: the ordinary way.
  return { state: 'waiting' };
}

/** Whether Kubernetes counts the pod as ready at this moment. */
export function isUnready(pod: V1Pod): boolean {
  return condition(pod, 'Ready')?.status === 'False';
}

function condition(pod: V1Pod, type: string): V1PodCondition | undefined {
  return pod.status?.conditions?.find((one) => one.type === type);
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ').slice(0, 300);
}
