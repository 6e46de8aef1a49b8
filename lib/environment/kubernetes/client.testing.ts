import { orSkip } from '../../stream/shared.testing.ts';
import { type Client, loadClient } from './load.ts';

/** The Kubernetes client, or null where it does not load in this Node: use with `describe.skipIf(!client)`. */
export const client: Client | null = orSkip(
  'kubernetes-client',
  await loadClient().catch(() => null),
  `@kubernetes/client-node does not load in Node ${process.version}`,
);
