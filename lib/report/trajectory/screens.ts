import { createHash } from 'node:crypto';
import { DartError, messageOf } from '../../errors.ts';
import type { Screenshot } from '../../stream/records.ts';
import { Html, html } from './html.ts';

/** The bytes of a screenshot; rejects where there is none (`BlobStore.read`). */
export type LoadBlob = (sha256: string) => Promise<Uint8Array>;

export interface Screen {
  /** To stand before its first use: the picture itself, once however often it is seen. */
  definition: Html | null;
  /** Inside an SVG whose units are the screenshot's pixels. */
  picture: Html;
  /** Why there is no picture. */
  missing: string | null;
}

/** What browsers show and what cannot run scripts; anything else is not put into a page. */
const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
/** Screens smaller than this are enlarged without blurring their pixels. */
const SMALL = 640;

/** The screenshots of a page, each embedded once. */
export class Screens {
  readonly #load: LoadBlob;
  /** Number of each picture that is in the page, or why there is none. */
  readonly #known = new Map<string, number | string>();

  constructor(load: LoadBlob) {
    this.#load = load;
  }

  async show(screenshot: Screenshot): Promise<Screen> {
    const key = screenshot.sha256;
    const known = this.#known.get(key);
    if (typeof known === 'number') return shown(null, known, screenshot);
    if (typeof known === 'string') return absent(known);
    try {
      if (!MEDIA_TYPES.includes(screenshot.media_type)) throw new Error(`${screenshot.media_type} cannot be shown`);
      const bytes = await this.#load(key);
      const number = this.#known.size;
      this.#known.set(key, number);
      return shown(definition(bytes, number, screenshot), number, screenshot);
    } catch (error) {
      // Where it was looked for is nothing to those who get the page.
      const what = error instanceof DartError ? error.message : messageOf(error);
      const reason = `screenshot ${key.slice(0, 12)}…: ${what}`;
      this.#known.set(key, reason);
      return absent(reason);
    }
  }
}

function shown(definition: Html | null, number: number, { width, height }: Screenshot): Screen {
  const sharp = width < SMALL && ' class="sharp"';
  const picture = html`<use href="#b${number}"${new Html(sharp || '')} width="${width}" height="${height}"/>`;
  return { definition, picture, missing: null };
}

function absent(missing: string): Screen {
  return { definition: null, picture: html`<rect class="gap" width="100%" height="100%"/>`, missing };
}

/** Base64 needs no escaping, and is too long to look through for it. */
function definition(bytes: Uint8Array, number: number, { media_type, width, height }: Screenshot): Html {
  // What loads a picture may have made it smaller.
  const type = bytes[0] === 0xff && bytes[1] === 0xd8 ? 'image/jpeg' : media_type;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  const sharp = width < SMALL ? ' class="sharp"' : '';
  return new Html(
    `<svg class="store" width="0" height="0" aria-hidden="true"><defs><image id="b${number}"${sharp} width="${width}" height="${height}" preserveAspectRatio="none" href="data:${type};base64,${data}"/></defs></svg>\n`,
  );
}

/** `'sha256-…'`, by which a page's policy lets exactly this script or style through. */
export function contentHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
