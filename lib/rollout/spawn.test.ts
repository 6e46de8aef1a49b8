import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { messageOf } from '../errors.ts';
import { someRequest } from '../policy/request.testing.ts';
import { openServerWorkers } from './open_servers.ts';
import { gpusOf, OwnedServer, type OwnedServerOptions } from './spawn.ts';
import { checkedCommand, filled, wordsOfCommand } from './spawn_command.ts';
import { UncertainVersion } from './sync_error.ts';
import { WorkerPool } from './worker_pool.ts';

/** A server with a child of its own, as vLLM's engine is; what it is asked to serve it says in its list of models. */
const PROGRAM = `
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
const [port, model] = process.argv.slice(2);
if (model === 'broken') process.exit(4);
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
console.log('cuda ' + process.env.CUDA_VISIBLE_DEVICES + ' child ' + child.pid);
console.error('model ' + model);
createServer((request, response) => {
  if (request.url === '/crash') process.exit(7);
  const data = [{ id: model, owned_by: 'vllm' }];
  const choices = [{ message: { content: 'Action: wait()' }, finish_reason: 'stop' }];
  if (request.url === '/metrics') response.statusCode = 404;
  response.end(request.url === '/v1/models' ? JSON.stringify({ data }) : JSON.stringify({ choices }));
}).listen(Number(port), '127.0.0.1');
`;

let dir = '';
let command = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-spawn-'));
  writeFileSync(join(dir, 'server.mjs'), PROGRAM);
  command = `'${process.execPath}' "${join(dir, 'server.mjs')}" {port} {model}`;
});
afterAll(() => rmSync(dir, { recursive: true }));

const running: OwnedServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

const lines: string[] = [];
async function start(more: Partial<OwnedServerOptions> = {}): Promise<OwnedServer> {
  lines.length = 0;
  const options = { command, gpu: '3', index: 0, model: 'one', env: process.env, startTimeoutMs: 60_000 };
  const server = await OwnedServer.start({ ...options, log: (line) => lines.push(line), ...more });
  running.push(server);
  return server;
}

const modelOf = async ({ url }: { url: string }) =>
  (await (await fetch(`${url}/v1/models`)).text()).match(/"id":"(\w+)"/)?.[1];
const childOf = () => Number(lines.map((line) => /child (\d+)/.exec(line)?.[1]).findLast(Boolean));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('OwnedServer', () => {
  it('starts a server on its GPU, says what it says, and ends it with its descendants', async () => {
    const server = await start();
    expect(await modelOf(server)).toBe('one');
    await until(() => lines.length >= 2);
    expect(lines.sort()).toEqual([expect.stringMatching(/^\[gpu 3\] cuda 3 child \d+$/), '[gpu 3] model one']);
    const child = childOf();
    expect(alive(child)).toBe(true);
    await server.stop();
    await until(() => !alive(child));
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it('tells when it ends by itself, and can be started again at the same address', async () => {
    const server = await start();
    const ended = new Promise<unknown>((resolve) => server.onExit(resolve));
    await until(() => childOf() > 0);
    const child = childOf();
    await fetch(`${server.url}/crash`).catch(() => {});
    expect(await ended).toMatchObject({
      message: expect.stringMatching(/^the server ended with exit code 7; it last said: .*model one/),
      where: '--spawn, gpu 3',
    });
    await until(() => !alive(child));
    await server.ensureRunning();
    for (;;) {
      const model = await modelOf(server).catch(() => null);
      if (model) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(server.running).toBe(true);
  });

  it('is started again with another model', async () => {
    const server = await start();
    let told = 0;
    server.onExit(() => {
      told += 1;
    });
    await server.restartWith('two');
    expect(await modelOf(server)).toBe('two');
    expect(told).toBe(0);
  });

  it.each([
    [
      'ends at once',
      'node -e \'console.log("no such model"); process.exit(3)\' {port}',
      'ended before it answered; it last said: no such model',
    ],
    ['is not there', 'no-such-program --port {port}', 'ended before it answered'],
  ])('that %s says why', async (_, line, message) => {
    await expect(start({ command: line })).rejects.toThrow(message);
  });

  it('that is starting is ended when the command is told to stop', async () => {
    const stop = new AbortController();
    const line = `'${process.execPath}' -e 'console.log("child " + process.pid); setInterval(() => {}, 1000)' {port}`;
    const starting = start({ command: line, signal: stop.signal });
    await until(() => childOf() > 0);
    stop.abort(new Error('told to stop'));
    await expect(starting).rejects.toThrow('told to stop');
    await until(() => !alive(childOf()));
  });

  it('that never answers is given up and ended', async () => {
    const line = `'${process.execPath}' -e 'console.log("child " + process.pid); setInterval(() => {}, 1000)' {port}`;
    await expect(start({ command: line, startTimeoutMs: 500 })).rejects.toThrow('did not answer within 0.5 s');
    await until(() => !alive(childOf()));
  });
});

describe('servers of --spawn', () => {
  it('are workers, one on each GPU', async () => {
    const said: string[] = [];
    const workers = await openServerWorkers('openai', {
      ...{ spawn: command, gpus: '4,6', model: 'one', env: process.env },
      log: (line) => said.push(line),
    });
    expect(workers.map(({ name }) => name)).toEqual(['openai:one', 'openai:one']);
    await until(() => said.length >= 4);
    expect(
      said
        .filter((line) => line.includes('cuda'))
        .map((line) => line.replace(/ child.*/, ''))
        .sort(),
    ).toEqual(['[gpu 4] cuda 4', '[gpu 6] cuda 6']);
    await Promise.all(workers.map((worker) => worker.close()));
  });

  it('are started again when they end, and requests wait for them', async () => {
    const workers = await openServerWorkers('openai', { spawn: command, gpus: '4', model: 'one', env: process.env });
    const news: string[] = [];
    const pool = new WorkerPool(workers, {
      ...{ healthIntervalMs: 20, circuit: { coolDownMs: 20, longestCoolDownMs: 50 } },
      onFailure: (_worker, error, out) => out && news.push(messageOf(error)),
    });
    const frame = { width: 1, height: 1, rgb: () => new Uint8Array(3), png: () => new Uint8Array(1) };
    const ask = async () => (await pool.act(someRequest({ frames: [frame] }))).text;
    expect(await ask()).toBe('Action: wait()');
    await fetch(`${workers[0]!.url}/crash`).catch(() => {});
    await until(() => news.length > 0);
    expect(pool.workers).toMatchObject([{ state: 'out' }]);
    expect(news[0]).toMatch(/exit code 7|does not answer/);
    expect(await ask()).toBe('Action: wait()');
    await pool.close();
    await expect(fetch(workers[0]!.url)).rejects.toThrow();
  });

  it('take a version by being started again with its folder', async () => {
    const options = { spawn: command, gpus: '4', model: 'one', update: 'restart', env: process.env } as const;
    const [worker] = await openServerWorkers('openai', options);
    await worker!.load!(5, 'two');
    expect([worker!.version, await modelOf(worker!)]).toEqual([5, 'two']);
    // A version that no server starts with: the one before stays the one to start.
    await expect(worker!.load!(6, 'broken')).rejects.toBeInstanceOf(UncertainVersion);
    expect(worker!.version).toBe(5);
    const { signal } = new AbortController();
    while (
      !(await worker!.check(signal).then(
        () => true,
        () => false,
      ))
    )
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await modelOf(worker!)).toBe('two');
    await worker!.close();
  });

  it('are refused together with addresses, and restarts without them', async () => {
    await expect(openServerWorkers('openai:http://a', { spawn: command })).rejects.toThrow('either named or started');
    await expect(openServerWorkers('openai:http://a', { update: 'restart' })).rejects.toThrow(
      'only servers that this command starts',
    );
  });

  it('stand on the GPUs that are named, or that CUDA shows', () => {
    expect(gpusOf('0, 2', { CUDA_VISIBLE_DEVICES: '5' })).toEqual(['0', '2']);
    expect(gpusOf(undefined, { CUDA_VISIBLE_DEVICES: '5,6' })).toEqual(['5', '6']);
    expect(gpusOf(undefined, {})).toEqual(['']);
  });
});

describe('a command line', () => {
  it('is split as a shell would, and nothing in it is run by one', () => {
    expect(wordsOfCommand(`vllm serve 'my model' --x="a b" c\\ d '' "q\\"q" $HOME;ls`)).toEqual([
      ...['vllm', 'serve', 'my model', '--x=a b', 'c d', '', 'q"q', '$HOME;ls'],
    ]);
    expect(() => wordsOfCommand("vllm 'open")).toThrow('a quote is open');
  });

  it('gets what belongs to one server', () => {
    const words = ['vllm', 'serve', '{model}', '--port', '{port}', '{"json": 1}', 'g{gpu}i{index}'];
    expect(filled(words, { port: 8001, gpu: '2', index: 1, model: 'm' })).toEqual([
      ...['vllm', 'serve', 'm', '--port', '8001', '{"json": 1}', 'g2i1'],
    ]);
    expect(() => filled(words, { port: 1, gpu: '', index: 0 })).toThrow('there is no model');
    expect(() => checkedCommand('vllm serve m')).toThrow('does not take its port');
    expect(() => checkedCommand(' ')).toThrow('empty');
  });
});
