import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { flock } from '../../native/index.ts';
import { spec } from './spec.ts';

const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-resume-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const argv = ['--tasks', SUITE, '--domain', 'vlc', '--policy', 'random', '--repeats', '3', '--max-steps', '4'];
async function evaluate(changes: string[] = [], base = argv) {
  const io = testIo({ cwd: dir });
  // Each option once: a change takes the place of what is there.
  const [name, value] = changes;
  const at = base.indexOf(name ?? '');
  const given = at === -1 ? [...base, ...changes] : base.with(at + 1, value!);
  const code = await runCommand(spec, [...given, '--resume', 'runs/a.ndjson', '--seed', '3'], io);
  return { code, err: io.err(), records: io.records() };
}
const file = () => join(dir, 'runs/a.ndjson');
const lines = () => readFileSync(file(), 'utf8').trim().split('\n');
/** What was measured, without how long it took. */
const scores = (records: { type: string; [field: string]: unknown }[]) =>
  records.map(({ task_id, score, rollouts, success_rate }) => ({ task_id, score, rollouts, success_rate }));

/** Some task of the suite, as a record. */
function taskOfSuite(): { id: string; [field: string]: unknown } {
  const name = readdirSync(join(SUITE, 'vlc')).find((file) => file.endsWith('.json'))!;
  return { type: 'task', v: 1, ...JSON.parse(readFileSync(join(SUITE, 'vlc', name), 'utf8')) };
}

describe('dart-eval --resume', () => {
  it('goes on where a killed run was, and comes to what one run would have', async () => {
    const whole = await evaluate();
    const all = lines();
    expect(all).toHaveLength(18);
    // Half of it, a rollout that ended in an error, and a line that the kill cut off.
    const failed = { ...JSON.parse(all[9]!), reward: null, outcome: 'env_error', error: 'it died' };
    writeFileSync(file(), `${all.slice(0, 9).join('\n')}\n${JSON.stringify(failed)}\n${all[10]!.slice(0, 100)}`);
    const rest = await evaluate();
    expect(rest.err).toContain('9 of 18 rollouts were scored before');
    expect(scores(rest.records)).toEqual(scores(whole.records));
    expect(rest.records.at(-1)).toMatchObject({ resumed: 9, rollouts: 18, scored: 18 });
    const ids = lines().map((line) => JSON.parse(line).trajectory_id as string);
    expect([ids.length, new Set(ids).size]).toEqual([19, 18]);
    // The file is one that score reads: the error has been made good.
    const io = testIo({ cwd: dir });
    await runCommand(spec, ['score', 'runs/a.ndjson', '-q'], io);
    expect(io.records().at(-1)).toMatchObject({ rollouts: 18, scored: 18 });
  });

  it('does nothing where all is done, and more where more is asked for', async () => {
    const first = await evaluate();
    const again = await evaluate(['--env', 'attach:http://127.0.0.1:9']);
    expect(scores(again.records)).toEqual(scores(first.records));
    expect(again.records.at(-1)).toMatchObject({ policy: 'random', resumed: 18 });
    const more = await evaluate(['--repeats', '4']);
    expect(more.records.at(-1)).toMatchObject({ rollouts: 24, resumed: 18 });
    const fewer = await evaluate(['--repeats', '2']);
    expect(fewer.records.at(-1)).toMatchObject({ rollouts: 12, resumed: 12 });
  });

  it.each([
    [['--max-steps', '5'], 'a.ndjson:1: this rollout was made with --max-steps 4, not 5'],
    [['--temperature', '0.5'], 'made with --temperature 1, not 0.5'],
    [['--protocol', 'strict'], 'made with --protocol verified, not strict'],
    [['--fail-at-limit'], 'made with --fail-at-limit false, not true'],
    // Also where nothing is left to do.
    [['--policy', 'fixed:wait'], 'made with --policy (random), not (fixed:wait)'],
  ])('refuses rollouts made otherwise than with %j', async (extra, message) => {
    await evaluate();
    const { code, err } = await evaluate(extra);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(lines()).toHaveLength(18);
  });

  it('refuses another policy, and a file of something else', async () => {
    await evaluate();
    writeFileSync(file(), `${lines().slice(0, 3).join('\n')}\n`);
    const { policy, ...plain } = JSON.parse(lines()[0]!);
    // A file of before, which knows no more of the policy than its name.
    writeFileSync(file(), `${JSON.stringify({ ...plain, policy: { ...policy, identity: undefined } })}\n`);
    const { code, err } = await evaluate(['--policy', 'fixed:wait']);
    expect(code).toBe(2);
    expect(err).toMatch(/a rollout of fixed.* among those of random/);
    writeFileSync(file(), `${lines()[0]}\n`.repeat(3));
    appendFileSync(file(), '{"type":"summary","v":1,"command":"x"}\n');
    expect((await evaluate()).err).toContain('a.ndjson:4: a summary record, where rollouts are expected');
  });

  it('does not retry errors of one policy with another', async () => {
    await evaluate();
    const failed = lines().map((line) => ({
      ...JSON.parse(line),
      reward: null,
      outcome: 'env_error',
      error: 'it died',
    }));
    writeFileSync(file(), failed.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { code, err } = await evaluate(['--policy', 'fixed:wait']);
    expect(code).toBe(2);
    expect(err).toContain('not (fixed:wait)');
    expect(lines()).toHaveLength(18);
  });

  it('tells two files of one name and version apart by what is in them', async () => {
    const policy = join(dir, 'policy.onnx');
    const bytes = readFileSync(join(packageRoot(), 'fixtures/policies/base.onnx'));
    writeFileSync(policy, bytes);
    const small = ['--max-steps', '1', '--repeats', '1', '--temperature', '1'];
    const onnx = ['--tasks', SUITE, '--domain', 'vlc', '--policy', `onnx:${policy}`, ...small];
    expect((await evaluate([], onnx)).err).toContain('over 6 rollouts');
    expect((await evaluate([], onnx)).err).toContain('6 of 6 rollouts were scored before');
    writeFileSync(policy, Buffer.concat([bytes, Buffer.from([0])]));
    const { code, err } = await evaluate([], onnx);
    expect(code).toBe(2);
    expect(err).toMatch(/made with --policy \(onnx sha256 [0-9a-f]{64}\), not \(onnx sha256/);
  });

  it('refuses the rollouts of a task that was edited since', async () => {
    const io = (stdin: string) => testIo({ cwd: dir, stdin });
    const [first] = [taskOfSuite()];
    const argv = ['--tasks', '-', '--policy', 'random', '--repeats', '1', '--max-steps', '1', '--resume', 'a.ndjson'];
    await runCommand(spec, argv, io(JSON.stringify(first)));
    const reordered = Object.fromEntries(Object.entries(first!).reverse());
    const again = io(JSON.stringify(reordered));
    await runCommand(spec, argv, again);
    expect(again.err()).toContain('1 of 1 rollouts were scored before');
    const edited = io(JSON.stringify({ ...first, instruction: 'something else' }));
    expect(await runCommand(spec, argv, edited)).toBe(2);
    expect(edited.err()).toContain(`task ${first!.id} has been edited since its rollouts were made`);
  });

  it('leaves a file alone that another run writes to', async () => {
    await evaluate();
    const other = openSync(file(), 'a');
    expect(flock(other)).toBe(true);
    const { code, err } = await evaluate(['--repeats', '4']);
    closeSync(other);
    expect(code).toBe(75);
    expect(err).toContain('another dart-eval writes its rollouts to this file');
    expect(lines()).toHaveLength(18);
    expect((await evaluate(['--repeats', '4'])).records.at(-1)).toMatchObject({ rollouts: 24 });
  });
});
