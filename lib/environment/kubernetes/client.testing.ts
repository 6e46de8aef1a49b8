import { orSkip } from '../../stream/shared.testing.ts';

type Client = typeof import('@kubernetes/client-node');

/** The Kubernetes client, or null where it does not load in this Node: use with `describe.skipIf(!client)`. */
export const client: Client | null = orSkip(
  'kubernetes-client',
  await import('@kubernetes/client-node').catch(() => null),
  `@kubernetes/client-node does not load in Node ${process.version}`,
);
