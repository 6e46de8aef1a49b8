import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const addon = join(import.meta.dirname, 'build', 'Release', 'dart_native.node');

/** What a worker runs first: the addon with three threads a call, and `update(size, more)`, one AdamW call of it. */
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const addon = require(workerData);
  addon.setThreads({ threads: 3 });
  function update(size, more) {
    const array = () => new Float32Array(size).fill(1);
    const tensor = { parameter: array(), gradient: array(), firstMoment: array(), secondMoment: array() };
    const totals = new Float64Array(2);
    const constants = { step: 1, learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, maxGradNorm: 1 };
    const tensors = [{ ...tensor, half: 1, weightDecay: 0 }];
    const result = addon.adamw({ backend: 'cpu', tensors, totals, ...constants, ...more });
    return { totals, result };
  }
`;

/** Runs a program in a process of its own, so that a crash is an exit status and not the end of these tests. */
function run(program: string) {
  const head = `
    const { Worker } = require('node:worker_threads');
    const worker = (code) => new Worker(${JSON.stringify(WORKER)} + code, { eval: true, workerData: ${JSON.stringify(addon)} });
    const message = (from) => new Promise((resolve, reject) => from.once('message', resolve).once('error', reject));
  `;
  const body = `${head}(async () => {${program}})()`;
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['-e', body], { encoding: 'utf8' });
  return { status, signal, stdout, stderr };
}

const done = (stdout: string) => ({ status: 0, signal: null, stdout, stderr: '' });

describe('worker threads', () => {
  it('load, use with several threads, and unload the addon again and again', () => {
    const program = `
      for (let i = 0; i < 12; i++) {
        const one = worker('parentPort.postMessage(update(200_000).totals[0])');
        const other = worker('parentPort.postMessage(update(300_000).totals[0])');
        const sums = await Promise.all([message(one), message(other)]);
        if (sums.join() !== '200000,300000') throw new Error(sums.join());
        await Promise.all([one.terminate(), other.terminate()]);
      }
      console.log('unloaded');
    `;
    expect(run(program)).toEqual(done('unloaded\n'));
  });

  it('may be terminated with promised calls under way and in the queue', () => {
    const code = 'for (let i = 0; i < 6; i++) update(3_000_000, { async: true }); parentPort.postMessage("begun")';
    const program = `
      for (let i = 0; i < 5; i++) {
        const busy = worker(${JSON.stringify(code)});
        await message(busy);
        await busy.terminate();
      }
      const after = worker('update(9, { async: true }).result.then(() => parentPort.postMessage("still works"))');
      console.log(await message(after));
    `;
    expect(run(program)).toEqual(done('still works\n'));
  });

  it('that have nothing else to do wait for a promised call', () => {
    const program = `
      const one = worker('update(2_000_000, { async: true }).result.then(() => parentPort.postMessage("settled"))');
      one.on('message', console.log);
      await new Promise((resolve) => one.once('exit', (code) => resolve(console.log('exit', code))));
    `;
    expect(run(program)).toEqual(done('settled\nexit 0\n'));
  });
});
