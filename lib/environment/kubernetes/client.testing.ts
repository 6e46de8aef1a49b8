import { spawnSync } from 'node:child_process';
import { orSkip } from '../../stream/shared.testing.ts';

type Client = typeof import('@kubernetes/client-node');

/** Tried in a process of its own: an import that fails cannot be taken back. */
async function load(): Promise<Client | null> {
  const script = "await import('@kubernetes/client-node')";
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    stdio: 'ignore',
  });
  return status === 0 ? await import('@kubernetes/client-node') : null;
}

/** The Kubernetes client, or null where it does not load in this Node: use with `describe.skipIf(!client)`. */
export const client: Client | null = orSkip(
  'kubernetes-client',
  await load(),
  `@kubernetes/client-node does not load in Node ${process.version}`,
);
