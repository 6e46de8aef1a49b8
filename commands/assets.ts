import { join } from 'node:path';
import { resolvePath } from '../lib/cli/input.ts';
import { xdgFolder } from '../lib/cli/paths.ts';
import type { CommandContext } from '../lib/cli/spec.ts';
import { AssetCache } from '../lib/osworld/assets_cache.ts';
import { givenFolder } from './server_settings.ts';

/** The cache that the options name. */
export function assetCacheOf({ options, io }: CommandContext): AssetCache {
  const given = options['asset-cache'] as string | undefined;
  const dir = given === undefined ? join(xdgFolder('cache', io.env), 'assets') : resolvePath(io, given);
  return new AssetCache(dir, { offline: options.offline === true, mirror: options.mirror as string | undefined });
}

/** What a session takes files from. @throws DartError where the folder of `--assets` is not there. */
export function assetSettings(context: CommandContext): { assetsDir: string | null; assetCache: AssetCache } {
  const assets = context.options.assets as string | undefined;
  const assetsDir = assets === undefined ? null : givenFolder(context.io, 'assets', assets);
  return { assetsDir, assetCache: assetCacheOf(context) };
}
