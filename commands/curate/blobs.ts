import { join } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import { xdgFolder } from '../../lib/cli/paths.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';

export { givenBlobs } from '../blobs.ts';

/** The folder that `--blobs` names, or the default one. */
export function blobsFolder(context: CommandContext): string {
  const { io, options } = context;
  return options.blobs === undefined
    ? join(xdgFolder('state', io.env), 'blobs')
    : resolvePath(io, String(options.blobs));
}
