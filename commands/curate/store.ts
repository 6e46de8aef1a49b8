import type { CommandContext } from '../../lib/cli/spec.ts';
import { defaultStoreUrl, openStore, type Store, storeUrlFrom } from '../../lib/store/index.ts';

/** The store that `--store` names, or null without it. */
export async function givenStore({ io, options }: CommandContext): Promise<Store | null> {
  const url = options.store as string | undefined;
  return url === undefined ? null : openStore(storeUrlFrom(url, io.cwd));
}

/** The store that `--store` names, or the default one. */
export async function anyStore(context: CommandContext): Promise<Store> {
  return (await givenStore(context)) ?? openStore(defaultStoreUrl(context.io.env));
}

/**
 * As `anyStore`, for commands that only read.
 * @throws DartError where there is no such store; none is made.
 */
export function storeToRead({ io, options }: CommandContext): Promise<Store> {
  const url = options.store as string | undefined;
  const path = url === undefined ? defaultStoreUrl(io.env) : storeUrlFrom(url, io.cwd);
  return openStore(path, { existing: true });
}
