import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf, trajectoryOf } from '../../lib/report/trajectory/example.testing.ts';
import { trajectoryPage } from '../../lib/report/trajectory/page.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { shrinking } from './screenshots.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-shrink-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#369' } })
    .png()
    .toBuffer();

describe('shrinking', () => {
  it('makes wide screens smaller for a page, which says what they are, and leaves others as they are', async () => {
    const store = new BlobStore(dir);
    const [wide, small] = [await picture(1920, 1080), await picture(640, 360)];
    const [wideSha, smallSha] = [await store.put(wide), await store.put(small)];
    const load = shrinking(store);
    expect(Buffer.compare(await load(smallSha), small)).toBe(0);
    expect(await sharp(await load(wideSha)).metadata()).toMatchObject({ format: 'jpeg', width: 1280, height: 720 });
    const screenshot = { sha256: wideSha, media_type: 'image/png', width: 1920, height: 1080 };
    let page = '';
    for await (const part of trajectoryPage(trajectoryOf([stepOf({ observation: { screenshot } })]), load))
      page += part;
    // Its place on the page is still counted in pixels of the screen.
    expect(page).toContain('<use href="#b0" width="1920" height="1080"/>');
    expect(page).toContain('href="data:image/jpeg;base64,/9j/');
  });
});
