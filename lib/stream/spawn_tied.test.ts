import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { tied } from './spawn_tied.ts';

/** Starts what it is told in a process group of its own, says its number, and stays. */
const KEEPER = `
const [file, ...args] = JSON.parse(process.argv[1]);
const child = require('node:child_process').spawn(file, args, { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
console.log(child.pid);
setInterval(() => {}, 1000);
`;

const words = [process.execPath, '-e', "console.log('ready'); setInterval(() => {}, 1000)"];
const isTied = (await tied(words))[0] === 'setpriv';

describe.skipIf(!isTied)('a tied command (skipped where there is no setpriv)', () => {
  it('ends when who started it is killed', async () => {
    const keeper = spawn(process.execPath, ['-e', KEEPER, JSON.stringify(await tied(words))]);
    let said = '';
    for await (const chunk of keeper.stdout) {
      said += String(chunk);
      if (/\d+\n/.test(said) && said.includes('ready')) break;
    }
    const pid = Number(/\d+/.exec(said)![0]);
    expect(isAlive(pid)).toBe(true);
    keeper.kill('SIGKILL');
    await once(keeper, 'exit').catch(() => {});
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  }, 60_000);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
