import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import type { LoadBlob } from '../../lib/report/trajectory/screens.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { WantedReport } from './report_options.ts';

/** Where the screenshots of an evaluation go, and where a page gets them from. */
export interface Screenshots {
  store: Pick<BlobStore, 'putSync'>;
  load: LoadBlob;
  /** Takes away what was only there for a page. */
  close(): void;
}

/**
 * `--blobs` keeps the screenshots. Without it they are named by their content and kept nowhere, unless a page is to show
 * them: then they lie in a temporary folder until it is written.
 */
export function openScreenshots({ options, io }: CommandContext, reports: readonly WantedReport[]): Screenshots {
  if (typeof options.blobs === 'string') {
    const store = new BlobStore(resolvePath(io, options.blobs));
    return { store, load: (sha256) => store.read(sha256), close: () => {} };
  }
  if (reports.some(({ format }) => format === 'html')) {
    const dir = mkdtempSync(join(tmpdir(), 'dart-eval-screens-'));
    const store = new BlobStore(dir);
    return { store, load: (sha256) => store.read(sha256), close: () => rmSync(dir, { recursive: true, force: true }) };
  }
  const putSync = (png: Uint8Array) => createHash('sha256').update(png).digest('hex');
  return { store: { putSync }, load: nothing, close: () => {} };
}

/** For what keeps no screenshots. */
export async function nothing(): Promise<never> {
  throw new Error('no screenshots were kept (--blobs DIR)');
}
