import { createRequire } from 'node:module';
import { DartError, messageOf } from '../../errors.ts';

/** The Kubernetes client, which is big: loaded when a cluster is wanted. */
export type Client = typeof import('@kubernetes/client-node');

/** @throws DartError where it does not load in this Node. */
export async function loadClient(): Promise<Client> {
  try {
    tryTransport();
    return await import('@kubernetes/client-node');
  } catch (error) {
    throw new DartError(`the Kubernetes client does not load: ${messageOf(error)}`, {
      where: `Node ${process.version}`,
      hint: 'a newer Node: Node 22.19',
      cause: error,
    });
  }
}

/**
 * Loads the HTTP library that some versions of the client use. Where it wants a newer Node, its failure inside an
 * import would end the process though the import's own failure is caught.
 */
function tryTransport(): void {
  const fromClient = createRequire(createRequire(import.meta.url).resolve('@kubernetes/client-node'));
  try {
    fromClient('undici');
  } catch (error) {
    if ((error as { code?: string }).code !== 'MODULE_NOT_FOUND') throw error;
  }
}
