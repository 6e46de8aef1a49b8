import { join } from 'node:path';
import { resolvePath } from '../lib/cli/input.ts';
import { xdgFolder } from '../lib/cli/paths.ts';
import type { CommandContext, OptionSpec } from '../lib/cli/spec.ts';
import { AssetCache } from '../lib/osworld/assets_cache.ts';
import { givenFolder } from './server_settings.ts';

/** Where the asset cache is and what fills it. */
export const CACHE_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'asset-cache',
    type: 'string',
    value: 'DIR',
    describe: 'Folder in which files that tasks download are kept, by URL (default: $XDG_CACHE_HOME/dart/assets)',
    group: 'Assets',
  },
  {
    name: 'mirror',
    type: 'string',
    value: 'URL',
    describe: 'Address that stands in for https://huggingface.co, such as https://hf-mirror.com',
    group: 'Assets',
  },
];

/** Of commands that run tasks. */
export const ASSET_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'assets',
    type: 'string',
    value: 'DIR',
    describe: 'Folder of the files that tasks download, looked into before the asset cache: an offline mirror',
    group: 'Assets',
  },
  ...CACHE_OPTIONS,
  {
    name: 'offline',
    type: 'boolean',
    describe: 'Download nothing: a file that neither --assets nor the cache has ends its rollout in an error',
    group: 'Assets',
  },
];

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
