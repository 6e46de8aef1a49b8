import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openPolicy } from '../policy/open.ts';
import { isServerKind } from '../policy/openai/server_spec.ts';
import type { Policy } from '../policy/policy.ts';
import { splitPolicySpec } from '../policy/spec.ts';
import { taskExperts } from './experts.ts';
import type { RolloutServers } from './open_servers.ts';
import { PublishedDirectory, type VersionSource } from './versions.ts';

export interface OpenedPolicies {
  policies: Policy[];
  /** Where newer versions of them are announced, when the specification names a published directory. */
  versions: VersionSource | null;
}

/**
 * Opens a policy as `workers` workers. `onnx:DIR` is a published directory: `DIR/policy.onnx`, and newer versions as
 * `DIR/latest.json` announces them. Of `openai:` and `sglang:` each server is a worker; `workload:FILE` costs what a workload says. Policies that remember episodes
 * (script, replay) are always one worker.
 */
export async function openPolicies(
  spec: string,
  workers: number,
  threads?: number,
  servers: RolloutServers = {},
): Promise<OpenedPolicies> {
  const { kind, rest } = splitPolicySpec(spec);
  if (isServerKind(kind)) {
    const { openServerWorkers } = await import('./open_servers.ts');
    const versions = servers.versions === undefined ? null : new PublishedDirectory(servers.versions);
    return { policies: await openServerWorkers(spec, servers), versions };
  }
  if (kind === 'workload') {
    const { openWorkloadPolicies } = await import('./simulate/policy.ts');
    return { policies: await openWorkloadPolicies(rest, workers), versions: null };
  }
  const published = kind === 'onnx' && (await isFolder(rest));
  const one = published ? `onnx:${join(rest, 'policy.onnx')}` : spec;
  const count = kind === 'onnx' ? workers : 1;
  const policies: Policy[] = [];
  try {
    for (let i = 0; i < count; i++) {
      servers.signal?.throwIfAborted();
      policies.push(await openPolicy(one, { expert: taskExperts, threads, tell: servers.warn }));
    }
  } catch (error) {
    await Promise.all(policies.map((policy) => policy.close()));
    throw error;
  }
  return { policies, versions: published ? new PublishedDirectory(rest) : null };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
