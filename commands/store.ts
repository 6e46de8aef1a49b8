import { logOf } from '../lib/cli/log.ts';
import type { CommandContext } from '../lib/cli/spec.ts';
import { defaultStoreUrl, type HandOn, openStore, type Store, storeUrlFrom } from '../lib/store/index.ts';

/**
 * The store that `--store` names, or null without it.
 * @param handOn See OpenOptions.
 */
export async function givenStore(context: CommandContext, handOn?: HandOn): Promise<Store | null> {
  const url = context.options.store as string | undefined;
  return url === undefined || url === '' ? null : open(context, storeUrlFrom(url, context.io.cwd), false, handOn);
}

/** The store that `--store` names, or the default one. */
export async function anyStore(context: CommandContext): Promise<Store> {
  return (await givenStore(context)) ?? open(context, defaultStoreUrl(context.io.env), false);
}

/**
 * As `anyStore`, for commands that only read.
 * @throws DartError where there is no such store; none is made.
 */
export function storeToRead(context: CommandContext): Promise<Store> {
  const { io, options } = context;
  const url = options.store as string | undefined;
  return open(context, url === undefined ? defaultStoreUrl(io.env) : storeUrlFrom(url, io.cwd), true);
}

/** A command that is told to stop does not wait for a store that is away. */
function open(context: CommandContext, url: string, existing: boolean, handOn?: HandOn): Promise<Store> {
  const { env, signal } = context.io;
  const log = logOf(context);
  return openStore(url, { existing, env, signal, handOn, notify: (message, level) => log[level](message) });
}
