import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import type { LoadBlob } from '../../lib/report/trajectory/screens.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { sha256Of } from '../../lib/stream/sha256.ts';
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
    return { store, load: shrinking(store), close: () => {} };
  }
  if (reports.some(({ format }) => format === 'html')) {
    const dir = mkdtempSync(join(tmpdir(), 'dart-eval-screens-'));
    const store = new BlobStore(dir);
    return { store, load: shrinking(store), close: () => rmSync(dir, { recursive: true, force: true }) };
  }
  return { store: { putSync: sha256Of }, load: nothing, close: () => {} };
}

/** Screens wider than this are made smaller for a page: it would otherwise have gigabytes. */
const WIDTH = 1280;

/** Loads screenshots for a page: wide ones as JPEGs of 1280 pixels' width, others as they are. */
export function shrinking(store: Pick<BlobStore, 'read'>): LoadBlob {
  return async (sha256) => {
    const png = await store.read(sha256);
    const { default: sharp } = await import('sharp');
    const { width } = await sharp(png).metadata();
    if (width <= WIDTH) return png;
    return new Uint8Array(await sharp(png).resize({ width: WIDTH }).jpeg({ quality: 60 }).toBuffer());
  };
}

/** For what keeps no screenshots. */
export async function nothing(): Promise<never> {
  throw new Error('no screenshots were kept (--blobs DIR)');
}
