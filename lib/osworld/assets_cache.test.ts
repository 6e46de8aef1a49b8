import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import { AssetCache } from './assets_cache.ts';

const BODY = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
const SHA = createHash('sha256').update(BODY).digest('hex');

let dir: string;
let server: Server;
let origin: string;
/** What the server was asked: path and range. */
let asked: string[];
/** An answer that was begun and is not going on. */
let hanging: ServerResponse | null;
const cut = () => {
  hanging?.destroy();
  hanging = null;
};
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dart-assets-'));
  asked = [];
  hanging = null;
  answer = serve();
  server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.range ?? 'all'}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});

/** Serves BODY with ranges; the first answers send so many bytes, and end when `cut` is called. */
function serve({ body = BODY, etag = '"v1"', cuts = [] as number[] } = {}) {
  const left = [...cuts];
  return (request: IncomingMessage, response: ServerResponse) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const cut = left.shift();
    const headers = { etag, 'content-length': String(body.length - from) };
    if (from > 0)
      response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` });
    else response.writeHead(200, headers);
    if (cut === undefined) response.end(body.subarray(from));
    else {
      response.write(body.subarray(from, from + cut));
      hanging = response;
    }
  };
}

const cacheOf = (options = {}) => new AssetCache(join(dir, 'cache'), { download: { pauseMs: 1 }, ...options });
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing went wrong',
    (error: unknown) => (error as DartError).describe().replaceAll(origin, 'ORIGIN'),
  );

describe('AssetCache', () => {
  it('downloads a URL once, notes size and sha256, and asks nobody the second time', async () => {
    const cache = cacheOf();
    const url = `${origin}/a/b.xlsx`;
    const [first, second] = await Promise.all([cache.fetch(url), cache.fetch(url)]);
    expect(first).toEqual(second);
    expect(first).toMatchObject({ url, size: BODY.length, sha256: SHA });
    expect(Buffer.compare(await cacheOf().read(url), BODY)).toBe(0);
    expect(asked).toEqual(['/a/b.xlsx all']);
    expect(readdirSync(cache.folder(url)).sort()).toEqual(['about.json', 'content']);
    expect(JSON.parse(readFileSync(join(cache.folder(url), 'about.json'), 'utf8'))).toEqual({
      ...{ url, size: BODY.length, sha256: SHA },
    });
  });

  it('goes on from where a connection broke off', async () => {
    answer = serve({ cuts: [30_000, 20_000] });
    const bytes = await cacheOf().read(`${origin}/a`, { onBytes: cut });
    expect(Buffer.compare(bytes, BODY)).toBe(0);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBe('/a all');
    expect(asked.slice(1).map((line) => Number(/bytes=(\d+)-/.exec(line)?.[1]) > 0)).toEqual([true, true]);
  });

  it('never takes the half of a killed download for a file, and goes on from it', async () => {
    const cache = cacheOf();
    const folder = cache.folder(`${origin}/a`);
    mkdirSync(folder, { recursive: true });
    const version = createHash('sha256').update('"v1"').digest('hex').slice(0, 16);
    writeFileSync(join(folder, `content.${version}.part`), BODY.subarray(0, 1000));
    expect(await cache.find(`${origin}/a`)).toBeNull();
    expect(Buffer.compare(await cache.read(`${origin}/a`), BODY)).toBe(0);
    expect(asked).toEqual(['/a bytes=1000-']);
  });

  it('begins anew where the file has changed meanwhile', async () => {
    const cache = cacheOf();
    const folder = cache.folder(`${origin}/a`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'content.0123456789abcdef.part'), Buffer.alloc(1000, 1));
    expect(Buffer.compare(await cache.read(`${origin}/a`), BODY)).toBe(0);
    expect(asked).toEqual(['/a bytes=1000-', '/a all']);
  });

  it('keeps what came of a download that never ends, and names the URL', async () => {
    answer = serve({ cuts: [10, 10, 10] });
    const cache = cacheOf({ download: { pauseMs: 1, tries: 3 } });
    expect(await failure(cache.fetch(`${origin}/a`, { onBytes: cut }))).toMatch(
      /^ORIGIN\/a: the download did not come to its end: .*\. Try: again/,
    );
    expect(await cache.find(`${origin}/a`)).toBeNull();
    answer = serve();
    expect(await cache.fetch(`${origin}/a`)).toMatchObject({ sha256: SHA });
    expect(asked.at(-1)).toMatch(/^\/a bytes=\d+-$/);
  });

  it('leaves nothing of a broken download that cannot be gone on from', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('12');
      hanging = response;
    };
    const cache = cacheOf({ download: { tries: 3, pauseMs: 1 } });
    const told = await failure(cache.fetch(`${origin}/a`, { onBytes: cut }));
    expect(told).toMatch(/did not come to its end: .*\. Try: again, or --mirror URL$/);
    expect(asked).toHaveLength(3);
    expect(readdirSync(cache.folder(`${origin}/a`))).toEqual([]);
  });

  it('gives up a server that goes silent', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('12');
    };
    const cache = cacheOf({ download: { tries: 1, idleMs: 20 } });
    expect(await failure(cache.fetch(`${origin}/a`))).toContain('nothing came for 0.02 s');
  });

  it('holds a file to the sha256 that it should have, before and after', async () => {
    const url = `${origin}/a`;
    const wrong = '0'.repeat(64);
    expect(await failure(cacheOf().fetch(url, { sha256: wrong }))).toMatch(
      `ORIGIN/a: hash mismatch: it has sha256 ${SHA}, and should have ${wrong}`,
    );
    expect(await cacheOf().find(url)).toBeNull();
    const { path } = await cacheOf().fetch(url, { sha256: SHA });
    expect(await failure(cacheOf().fetch(url, { sha256: wrong }))).toContain('hash mismatch');
    const damaged = Buffer.from(BODY);
    damaged[7] = 255;
    writeFileSync(path, damaged);
    expect(await failure(cacheOf().read(url))).toMatch(
      /^ORIGIN\/a: hash mismatch: .*content has sha256 [0-9a-f]{64}, and had/,
    );
  });

  it('believes what Hugging Face says of the bytes on the way, and follows it', async () => {
    answer = (request, response) => {
      if (request.url === '/cdn') return serve()(request, response);
      const sha = request.url === '/bad' ? '1'.repeat(64) : SHA;
      response.writeHead(302, { location: '/cdn', 'x-linked-etag': `"${sha}"` }).end();
    };
    expect(await cacheOf().fetch(`${origin}/good`)).toMatchObject({ sha256: SHA });
    expect(await failure(cacheOf().fetch(`${origin}/bad`))).toContain(`hash mismatch: it has sha256 ${SHA}`);
  });

  it('takes a mirror for Hugging Face, and keeps the file under its own URL', async () => {
    const url = 'https://huggingface.co/datasets/x/resolve/main/chrome/a.pdf';
    const cache = cacheOf({ mirror: `${origin}/` });
    expect(await cache.fetch(url)).toMatchObject({ url, sha256: SHA });
    expect(asked).toEqual(['/datasets/x/resolve/main/chrome/a.pdf all']);
    expect(await cacheOf({ offline: true }).find(url)).toMatchObject({ sha256: SHA });
  });

  it('says what a server or an address is wrong about', async () => {
    answer = (request, response) => {
      if (request.url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end();
      else response.writeHead(Number(request.url?.slice(1))).end();
    };
    const cache = cacheOf({ download: { tries: 2, pauseMs: 1 } });
    expect(await failure(cache.fetch(`${origin}/404`))).toContain('ORIGIN/404: the server has no such file (HTTP 404)');
    expect(await failure(cache.fetch(`${origin}/503`))).toContain('the server answers HTTP 503');
    expect(asked.filter((line) => line.startsWith('/503'))).toHaveLength(2);
    expect(await failure(cache.fetch(`${origin}/file`))).toContain('it leads to file:///etc/passwd, no http address');
    expect(await failure(cache.fetch(`${origin}/round`))).toContain('more than 6 times');
    expect(await failure(cache.fetch('ftp://x.test/a'))).toContain('it is no http address');
    expect(await failure(cacheOf({ offline: true }).fetch(`${origin}/new`))).toContain('nothing is to be downloaded');
  });
});
