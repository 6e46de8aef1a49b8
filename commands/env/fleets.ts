import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { Fleets } from '../../lib/environment/fleets.ts';
import type { DriverKind } from '../../lib/environment/kind.ts';
import { KINDS, kindNamed, optionsOf } from '../../lib/environment/kinds.ts';
import { valuesOf } from '../../lib/environment/values.ts';
import { messageOf } from '../../lib/errors.ts';
import { flagName, flagsGiven } from './kind_flags.ts';

/**
 * The desktops that run, of the kind that --driver names, else of all kinds that can be seen from outside.
 * @throws DartError where none of the kinds can be looked at.
 */
export async function openFleets(context: CommandContext, kinds: readonly DriverKind[] = KINDS): Promise<Fleets> {
  const name = context.options.driver as string | undefined;
  const looked = name === undefined ? kinds.filter((kind) => kind.fleet) : [kindNamed(name, '--driver')];
  const asked = looked.map((kind) => {
    const options = optionsOf(kind).filter((option) => option.fleet);
    const given = flagsGiven(kind, context);
    const own = options.some((option) => given.has(option.name));
    return { kind, values: valuesOf(options, given, (flag) => `--${flagName(kind.name, flag)}`), wanted: own };
  });
  const tell = (kind: string, error: unknown) => logOf(context).info(`${kind} was not looked at: ${messageOf(error)}`);
  return unlessStopped(context.io.signal, Fleets.open(asked, tell));
}

/** What `work` comes to; rejects with the signal's reason as soon as it aborts: nobody waits for a stuck engine then. */
export async function unlessStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
