import type { OptionSpec } from '../lib/cli/spec.ts';

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
