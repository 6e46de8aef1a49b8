import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAddress, urlOf } from './address.ts';
import { testIo } from './io.testing.ts';
import { serveMetrics } from './metrics_server.ts';

function contextOf(metrics: string | undefined, options: Record<string, string> = {}) {
  return { io: testIo(), options: { metrics, ...options }, positionals: [], command: 'dart-x' };
}

describe('parseAddress', () => {
  it.each([
    ['9464', '127.0.0.1', 9464],
    [':9464', '127.0.0.1', 9464],
    ['0.0.0.0:0', '0.0.0.0', 0],
    ['localhost:65535', 'localhost', 65535],
    ['[::1]:80', '::1', 80],
  ])('reads %s', (text, host, port) => {
    expect(parseAddress(text, '--x', 'y')).toEqual({ host, port });
  });

  it.each(['', 'localhost', '1:2:3', 'a:65536', 'a:-1', '[x]:1', 'http://a:1', 'a:1/'])('refuses "%s"', (text) => {
    expect(() => parseAddress(text, '--x', 'y')).toThrow(`expected HOST:PORT but received '${text}'`);
  });

  it('puts IPv6 into brackets', () => {
    expect(urlOf({ host: '::1', port: 1 })).toBe('http://[::1]:1');
  });
});

describe('serveMetrics', () => {
  it('serves what it is given, fresh each time, and says where', async () => {
    const context = contextOf('127.0.0.1:0');
    let scrapes = 0;
    const server = (await serveMetrics(context, () => `a ${++scrapes}\n`))!;
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/metrics$/);
    expect(context.io.err()).toBe(`dart-x: metrics at ${server.url}\n`);
    const first = await fetch(server.url);
    expect([first.status, first.headers.get('content-type'), await first.text()]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'a 1\n',
    ]);
    expect(await (await fetch(`${server.url}?x=1`)).text()).toBe('a 2\n');
    expect((await fetch(server.url.replace('/metrics', '/'))).status).toBe(404);
    expect((await fetch(server.url, { method: 'POST', body: 'x' })).status).toBe(405);
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it('does nothing without the option', async () => {
    expect(await serveMetrics(contextOf(undefined), () => '')).toBe(null);
  });

  it('says that a port is in use', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const given = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    await expect(serveMetrics(contextOf(given), () => '')).rejects.toMatchObject({
      message: 'cannot offer metrics: the port is in use',
      where: `--metrics ${given}`,
      exitCode: 2,
    });
    other.close();
  });

  it('wants a token where others can reach it, and from those who ask then', async () => {
    await expect(serveMetrics(contextOf('0.0.0.0:0'), () => '')).rejects.toThrow(
      'other machines could read the metrics',
    );
    const dir = mkdtempSync(join(tmpdir(), 'dart-metrics-'));
    const file = join(dir, 'token.txt');
    writeFileSync(file, '\n');
    const withToken = contextOf('0.0.0.0:0', { 'metrics-token': file });
    await expect(serveMetrics(withToken, () => '')).rejects.toThrow('the token is empty');
    writeFileSync(file, 'secret\n');
    const server = (await serveMetrics(withToken, () => 'a 1\n'))!;
    rmSync(dir, { recursive: true });
    const url = server.url.replace('0.0.0.0', '127.0.0.1');
    const status = async (headers: Record<string, string>) => (await fetch(url, { headers })).status;
    expect(await status({})).toBe(401);
    expect(await status({ authorization: 'Bearer secre' })).toBe(401);
    expect(await status({ authorization: 'Bearer secret' })).toBe(200);
    await server.close();
  });
});
