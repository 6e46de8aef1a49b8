import { readInputs } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError, EXIT, messageOf } from '../../lib/errors.ts';
import type { Asset, AssetCache } from '../../lib/osworld/assets_cache.ts';
import { needsOf } from '../../lib/osworld/needs.ts';
import { counted } from '../../lib/stream/counted.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { assetCacheOf } from '../assets.ts';
import { tasksOf } from './tasks.ts';

/** What became of one URL. */
interface Fetched {
  asset: Asset;
  state: 'downloaded' | 'present' | 'replaced';
}

/** `dart-eval fetch-assets`: every file that the tasks download, into the cache, before anything is evaluated. */
export async function run(context: CommandContext): Promise<number> {
  const { options, io } = context;
  const log = logOf(context);
  const needs = (await tasksOf(context, String(options.from))).map(needsOf);
  const urls = [...new Set(needs.flatMap(({ assets, not_fetchable }) => [...assets, ...refusable(not_fetchable)]))];
  const cache = assetCacheOf(context);
  if (options['dry-run']) return tell(context, urls, cache);
  const sums = await checksums(context);
  const output = await openOutput(context);
  const progress = new Progress(context, 'fetching');
  const counts = { downloaded: 0, present: 0, replaced: 0, failed: 0, bytes: 0 };
  const done = () => counts.downloaded + counts.present + counts.replaced + counts.failed;
  let underWay = 0;
  const waiting = [...urls];
  progress.watch(() => `${done()} of ${counted(urls.length, 'file')}, ${megabytes(counts.bytes + underWay)}`);
  const work = async () => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      let received = 0;
      const onBytes = (bytes: number) => {
        underWay += bytes - received;
        received = bytes;
      };
      try {
        const { asset, state } = await fetchOne(cache, url, { signal: io.signal, onBytes, sha256: sums.get(url) });
        counts[state] += 1;
        counts.bytes += asset.size;
        const { size, sha256 } = asset;
        await output.write({ type: 'asset', v: SCHEMA_VERSION, url, size, sha256, state });
      } catch (error) {
        if (io.signal.aborted) throw error;
        counts.failed += 1;
        log.warnOften('files that could not be fetched', messageOf(error));
        await output.write({ type: 'asset', v: SCHEMA_VERSION, url, state: 'failed', error: messageOf(error) });
      }
      underWay -= received;
    }
  };
  try {
    await Promise.all(Array.from({ length: options.parallel as number }, work));
  } finally {
    progress.stop();
  }
  await output.write({
    ...{ type: 'summary', v: SCHEMA_VERSION, command: 'dart-eval fetch-assets' },
    ...{ assets: urls.length, ...counts, dir: cache.dir },
  });
  await output.close();
  const fetched = counts.downloaded + counts.replaced;
  log.info(
    `${counted(urls.length, 'file')}: ${fetched} downloaded, ${counts.present} were there, ${counts.failed} failed`,
  );
  return counts.failed > 0 ? EXIT.failure : EXIT.ok;
}

/** Plain relative paths are names in the folder of `--assets`; what has a scheme was meant to be fetched. */
function refusable(urls: readonly string[]): string[] {
  return urls.filter((url) => /^[a-z][a-z0-9+.-]*:/i.test(url));
}

/** A file that is there is looked through; one that is damaged is named and taken anew. */
async function fetchOne(
  cache: AssetCache,
  url: string,
  options: Parameters<AssetCache['fetch']>[1] & { sha256?: string },
): Promise<Fetched> {
  const there = await cache.find(url);
  if (!there) return { asset: await cache.fetch(url, options), state: 'downloaded' };
  const whole = await cache.verify(there).then(
    () => options.sha256 === undefined || options.sha256 === there.sha256,
    () => false,
  );
  if (whole) return { asset: there, state: 'present' };
  return { asset: await cache.fetch(url, { ...options, anew: true }), state: 'replaced' };
}

async function tell(context: CommandContext, urls: readonly string[], cache: AssetCache): Promise<number> {
  const found = await Promise.all(urls.map((url) => cache.find(url)));
  const missing = urls.filter((_, index) => found[index] === null);
  for (const url of missing) logOf(context).info(`would fetch ${url}`);
  logOf(context).info(`would fetch ${missing.length} of ${counted(urls.length, 'file')} into ${cache.dir}`);
  return EXIT.ok;
}

/** What files should have, by URL: the `asset` records of an earlier run. */
async function checksums(context: CommandContext): Promise<Map<string, string>> {
  const sums = new Map<string, string>();
  const path = context.options.checksums as string | undefined;
  if (path === undefined) return sums;
  for await (const { record, where } of readInputs(context, [path])) {
    if (record.type !== 'asset' || record.state === 'failed') continue;
    const { url, sha256 } = record;
    if (typeof url !== 'string' || !/^[0-9a-f]{64}$/.test(String(sha256))) {
      throw new DartError('not an asset record: url and sha256', {
        where,
        hint: 'what dart-eval fetch-assets printed',
      });
    }
    sums.set(url, String(sha256));
  }
  return sums;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
