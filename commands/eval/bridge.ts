import type { CommandContext } from '../../lib/cli/spec.ts';
import type { Bridge } from '../../lib/osworld/bridge/kinds.ts';
import { givenFolder } from '../server_settings.ts';

/**
 * The installed OSWorld of `--python-bridge`, started; undefined without the option. Whoever opens it closes it.
 * @throws DartError where the folder is not there or holds no OSWorld that starts.
 */
export async function openGivenBridge({ options, io }: CommandContext): Promise<Bridge | undefined> {
  const given = options['python-bridge'] as string | undefined;
  if (given === undefined) return undefined;
  const { openBridge } = await import('../../lib/osworld/bridge/bridge.ts');
  return openBridge(givenFolder(io, 'python-bridge', given));
}
