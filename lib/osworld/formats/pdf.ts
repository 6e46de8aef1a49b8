import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { blank, type Image } from './picture/image.ts';

/** Opens a PDF, does something with it, and lets go of it. Throws an Error where the bytes are no PDF. */
async function withPdf<T>(bytes: Uint8Array, use: (pdf: PDFDocumentProxy, pdfjs: Pdfjs) => Promise<T>): Promise<T> {
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const data = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const task = pdfjs.getDocument({
    // The reader takes the bytes away from whoever gives them.
    data: Uint8Array.from(bytes),
    verbosity: 0,
    // Tables of Asian texts, measures of the standard fonts, and decoders of rare pictures.
    cMapUrl: `${data}/cmaps/`,
    standardFontDataUrl: `${data}/standard_fonts/`,
    wasmUrl: `${data}/wasm/`,
    useSystemFonts: false,
    disableFontFace: true,
    isOffscreenCanvasSupported: false,
  });
  try {
    return await use(await task.promise, pdfjs);
  } finally {
    await task.destroy();
  }
}

type Pdfjs = typeof import('pdfjs-dist/legacy/build/pdf.mjs');

async function* pagesOf(pdf: PDFDocumentProxy): AsyncGenerator<PDFPageProxy> {
  for (let number = 1; number <= pdf.numPages; number += 1) yield pdf.getPage(number);
}

/** Number of pages. */
export function pdfPageCount(bytes: Uint8Array): Promise<number> {
  return withPdf(bytes, async (pdf) => pdf.numPages);
}

/** Text of all pages, line by line, blanks around it taken off. */
export function pdfText(bytes: Uint8Array): Promise<string> {
  return withPdf(bytes, async (pdf) => {
    let text = '';
    for await (const page of pagesOf(pdf)) {
      const { items } = await page.getTextContent();
      for (const item of items) if ('str' in item) text += item.str + (item.hasEOL ? '\n' : '');
      if (!text.endsWith('\n')) text += '\n';
    }
    return text.trim();
  });
}

/** The pictures that the pages draw, decoded, in the order in which each page first draws them. */
export function pdfImages(bytes: Uint8Array): Promise<Image[]> {
  return withPdf(bytes, async (pdf, { OPS }) => {
    const images: Image[] = [];
    for await (const page of pagesOf(pdf)) {
      const { fnArray, argsArray } = await page.getOperatorList();
      const names = new Set<string>();
      for (const [at, operator] of fnArray.entries()) {
        const drawsImage = operator === OPS.paintImageXObject || operator === OPS.paintImageXObjectRepeat;
        if (drawsImage) names.add(argsArray[at][0]);
      }
      for (const name of names) images.push(imageOf(await objectOf(page, name)));
    }
    return images;
  });
}

interface PdfImage {
  width: number;
  height: number;
  /** 1: one bit a pixel; 2: RGB; 3: RGBA. */
  kind: number;
  data: Uint8Array;
}

function objectOf(page: PDFPageProxy, name: string): Promise<PdfImage> {
  const objects = name.startsWith('g_') ? page.commonObjs : page.objs;
  return new Promise((resolve) => objects.get(name, resolve));
}

function imageOf(found: PdfImage): Image {
  const { width, height, kind, data } = found;
  if (kind === 3) return { ...blank(width, height, 'RGBA'), data };
  if (kind === 2) return { ...blank(width, height, 'RGB'), data };
  const image = blank(width, height, '1');
  const stride = Math.ceil(width / 8);
  for (let i = 0; i < image.data.length; i += 1) {
    const [x, y] = [i % width, Math.floor(i / width)];
    image.data[i] = (data[y * stride + (x >> 3)]! >> (7 - (x & 7))) & 1 ? 255 : 0;
  }
  return image;
}
