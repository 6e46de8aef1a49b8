import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../lib/cli/paths.ts';
import { trajectory } from '../lib/store/trajectories.testing.ts';
import { greyScreen, groupLines, lines } from './train/fixture.testing.ts';

/** What only shows when the built commands are started as a user starts them: pipes, signals, links, the package. */
const root = packageRoot();
const SUITE = join(root, 'fixtures/tasks/embedded');
const COMMANDS = readdirSync(join(root, 'bin'));

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-bin-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function shell(line: string, cwd = root): SpawnSyncReturns<string> {
  const env = { ...process.env, XDG_CONFIG_HOME: dir, XDG_STATE_HOME: dir };
  return spawnSync('bash', ['-o', 'pipefail', '-c', line], { cwd, env, encoding: 'utf8' });
}

/** A command that waits until it is stopped and then cleans up for a while, started like any other. */
const WAITING = `
  import { main } from '${root}/dist/lib/cli/main.js';
  import { pollHangup } from '${root}/dist/native/index.js';
  const run = ({ io }) => new Promise((resolve, reject) => {
    const timer = setInterval(() => {}, 1000);
    process.stderr.write('waiting\\n');
    io.signal.addEventListener('abort', () => {
      process.stderr.write('cleaning up\\n');
      setTimeout(() => { clearInterval(timer); reject(io.signal.reason); }, Number(process.env.CLEAN_MS ?? 0));
    });
  });
  await main({ name: 'dart-wait', summary: '', options: [], run }, { pollHangup: async () => pollHangup });
`;

/** A command that reads a little of its input. Its process ends when nothing keeps it any more. */
const READING = `
  import { main } from '${root}/dist/lib/cli/main.js';
  process.on('beforeExit', () => process.stderr.write('by itself\\n'));
  const run = ({ io }) => new Promise((resolve) => {
    io.stdin.on('data', (chunk) => {
      process.stderr.write('read ' + chunk);
      resolve(0);
    });
  });
  await main({ name: 'dart-read', summary: '', options: [], run });
`;

describe.each(COMMANDS)('%s', (command) => {
  it('shows its help from the checkout', () => {
    const { status, stdout, stderr } = shell(`bin/${command} --help`);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^${command} - `));
  });

  it('names a misspelled option', () => {
    const { status, stdout, stderr } = shell(`bin/${command} --vresion`);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^${command}: `));
  });
});

describe('an executable', () => {
  it('runs through a symbolic link and from any folder', () => {
    symlinkSync(join(root, 'bin/dart-env'), join(dir, 'linked'));
    expect(shell('./linked --version', dir).stdout).toMatch(/^dart-env \d/);
  });

  it('runs from the packed package, and says so where that is not built', () => {
    const packed = shell(`npm pack --ignore-scripts --silent --pack-destination ${dir} && cd ${dir} && tar xzf *.tgz`);
    expect(packed.status, packed.stderr).toBe(0);
    const installed = join(dir, 'app/node_modules');
    mkdirSync(installed, { recursive: true });
    expect(shell(`mv ${dir}/package ${installed}/dart-toolkit`).status).toBe(0);
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(installed, name));
    }
    symlinkSync(join(installed, 'dart-toolkit/bin/dart-env'), join(dir, 'dart-env'));
    const { status, stdout, stderr } = shell(`./dart-env tasks --from ${SUITE} --sample 1 --seed 1`, dir);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').map((line) => line && JSON.parse(line).type)).toEqual(['task', 'summary', '']);
    expect(shell(`find ${installed}/dart-toolkit -name '*.test.*' -o -name '*.testing.*'`).stdout).toBe('');
    rmSync(join(installed, 'dart-toolkit/dist'), { recursive: true });
    const unbuilt = shell('./dart-env --help', dir);
    expect([unbuilt.status, unbuilt.stderr]).toEqual([2, expect.stringMatching(/not built .*Try: make build\n$/)]);
  });

  it('ends quietly when its reader leaves', () => {
    const { status, stdout, stderr } = shell(`bin/dart-env tasks --from ${SUITE} | head -n 1`);
    expect([status, stderr, stdout.trim().split('\n').length]).toEqual([0, '', 1]);
  });

  it('notices that its reader has left although it writes nothing', () => {
    const { status, stderr } = shell(`node --input-type=module -e ${quoted(WAITING)} | true`);
    expect([status, stderr]).toEqual([0, 'waiting\ncleaning up\n']);
  });

  it('lets go of standard input when it is done, though that goes on', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', READING], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin.write('one\n');
    const left = new Promise((resolve) => child.stdin.on('close', resolve));
    const status = await new Promise((resolve) => child.on('close', resolve));
    await left;
    expect([status, stderr]).toEqual([0, 'read one\nby itself\n']);
  });

  it.each([
    ['dart-env', `tasks --from ${SUITE}`],
    ['dart-env', '--help'],
    ['dart-curate', '$DIR/trajectories.ndjson'],
    ['dart-train', '--policy onnx:fixtures/policies/base.onnx --publish $DIR/policy --blobs $DIR $DIR/samples.ndjson'],
  ])('tells of a full disk: %s %s', (command, args) => {
    const pair = [0, 1].map((index) => trajectory({ id: `g.${index}`, group: 'g', index, reward: index, steps: 1 }));
    writeFileSync(join(dir, 'trajectories.ndjson'), lines(pair));
    writeFileSync(join(dir, 'samples.ndjson'), groupLines(3, greyScreen(dir)));
    const { status, stderr } = shell(`DIR=${dir}; bin/${command} ${args} > /dev/full`);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`${command}: stdout: cannot write: the disk is full`),
    ]);
    expect(stderr).not.toContain('bug');
  });

  it('writes a megabyte into a slow pipe to its end', () => {
    const { stdout } = shell(
      `node -e 'for (let i = 0; i < 2000; i++) console.log(JSON.stringify({type: "x", text: "y".repeat(1000)}))' | ` +
        `cat > ${dir}/big; (cat ${dir}/big; bin/dart-env tasks --from ${SUITE} --sample 1) | ` +
        `bin/dart-env tasks --from - | (sleep 0.5; wc -l)`,
    );
    // 2000 records that it does not know, the summary of the first command, the task, the summary.
    expect(Number(stdout)).toBe(2003);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('cleans up after %s and exits with %i', async (signal, code) => {
    const { status, stderr } = await stopped([signal], {});
    expect([status, stderr]).toEqual([code, 'waiting\ncleaning up\n']);
  });

  it('skips the clean-up at the second Ctrl-C', async () => {
    // An hour: a clean-up that is not skipped ends this test by its time limit.
    const { status } = await stopped(['SIGINT', 'SIGINT'], { CLEAN_MS: '3600000' });
    expect(status).toBe(130);
  });
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Starts the waiting command and sends it signals, half a second apart. */
async function stopped(signals: readonly NodeJS.Signals[], env: Record<string, string>) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WAITING], { env: { ...process.env, ...env } });
  let stderr = '';
  let sent = 0;
  const send = () => child.kill(signals[sent++]);
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    if (sent === 0 && stderr.includes('waiting')) send();
    else if (sent === 1 && signals.length > 1 && stderr.includes('cleaning')) setTimeout(send, 500);
  });
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, stderr };
}
