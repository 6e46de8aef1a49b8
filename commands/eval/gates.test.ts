import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { junitFaults } from '../../lib/report/junit_schema.testing.ts';
import { trajectoryOf } from '../../lib/report/trajectory/example.testing.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { spec } from './spec.ts';

const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
const VLC = ['--tasks', SUITE, '--domain', 'vlc', '--repeats', '1', '--env', 'embedded:2'];
let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-gates-'));
  mkdirSync(join(dir, 'tasks'));
  writeFileSync(join(dir, 'a-file'), '');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function evaluate(argv: string[], { stdin, env = {} }: { stdin?: string; env?: Record<string, string> } = {}) {
  const io = testIo({ stdin, cwd: dir, env: { XDG_CONFIG_HOME: '/nonexistent', ...env } });
  const code = await runCommand(spec, argv, io);
  return { code, err: io.err(), records: io.records(), summary: io.records().at(-1) };
}
const read = (name: string) => readFileSync(join(dir, name), 'utf8');

/** Trajectories of tasks a, b (solved) and c (an error). */
const TRAJECTORIES = [
  trajectoryOf([], { task_id: 'a', trajectory_id: 'a' }),
  trajectoryOf([], { task_id: 'b', trajectory_id: 'b' }),
  trajectoryOf([], { task_id: 'c', trajectory_id: 'c', outcome: 'env_error', reward: null, error: 'it died\u0007' }),
]
  .map((trajectory) => `${JSON.stringify(trajectory)}\n`)
  .join('');

describe('the gates of dart-eval', () => {
  it('look at scored tasks, or count errors as 0, and say which', async () => {
    const scored = await evaluate(['score', '-', '--fail-under', '0.9'], { stdin: TRAJECTORIES });
    expect(scored.code).toBe(0);
    expect(scored.err).toContain('success rate over scored tasks 100.0% is not below --fail-under 90.0%');
    expect(scored.err).toContain('1 task could not be scored for errors, 0 cannot be scored here');
    const zero = await evaluate(['score', '-', '--fail-under', '0.9', '--gate', 'errors-as-zero'], {
      stdin: TRAJECTORIES,
    });
    expect(zero.code).toBe(1);
    expect(zero.err).toContain('success rate with errors as 0 66.7% is below --fail-under 90.0%');
    expect(zero.summary).toMatchObject({
      ...{ passed: false, gate: 'errors-as-zero', errored: 1, success_rate: 1 },
      success_rate_errors_as_zero: expect.closeTo(2 / 3, 12),
    });
  });

  it('fail where the policy has become worse than the baseline, and not where it has not', async () => {
    expect((await evaluate([...VLC, '--policy', 'script', '-o', 'good.ndjson'])).code).toBe(0);
    const worse = await evaluate([...VLC, '--policy', 'fixed:finished', '--baseline', 'good.ndjson']);
    expect(worse.code).toBe(1);
    expect(worse.err).toMatch(/−100\.0 pt against good\.ndjson .* is a regression of more than 2\.0 pt/);
    expect(worse.summary).toMatchObject({ baseline: 1, gain: -1, p_not_worse: 0, paired_tasks: 6, passed: false });
    const same = await evaluate([...VLC, '--policy', 'script', '--baseline', 'good.ndjson', '--max-regression', '0']);
    expect(same.code).toBe(0);
    expect(same.summary).toMatchObject({ gain: 0, passed: true });
  });

  it('say in what the baseline was measured otherwise', async () => {
    await evaluate([...VLC, '--policy', 'script', '-o', 'short.ndjson']);
    const argv = [...VLC, '--policy', 'script', '--max-steps', '30', '--protocol', 'strict', '--seed', '7'];
    const { code, err, summary } = await evaluate([...argv, '--baseline', 'short.ndjson', '-o', 'long.ndjson']);
    const told =
      'the two evaluations were not made alike: --max-steps 15 before, 30 now; --protocol verified before, strict now';
    expect([code, err.includes(told)]).toEqual([0, true]);
    expect(summary).toBeUndefined();
    expect(JSON.parse(read('long.ndjson').trim().split('\n').at(-1)!)).toMatchObject({ seed: 7, max_steps: 30 });
    const compared = await evaluate(['compare', 'short.ndjson', 'long.ndjson']);
    expect([compared.code, compared.err.includes(told)]).toEqual([0, true]);
    expect((await evaluate(['compare', 'short.ndjson', 'short.ndjson'])).err).not.toContain('not made alike');
  });

  it('do not let a task vanish that cannot be read, or was not run', async () => {
    const tasks = join(dir, 'tasks');
    cpSync(join(SUITE, 'vlc'), join(tasks, 'vlc'), { recursive: true });
    const argv = ['--tasks', tasks, '--repeats', '1', '--env', 'embedded:2', '--policy', 'script'];
    await evaluate([...argv, '-o', 'all.ndjson']);
    const [broken, gone] = readdirSync(join(tasks, 'vlc')).filter((name) => name.endsWith('.json'));
    writeFileSync(join(tasks, 'vlc', broken!), '{');
    rmSync(join(tasks, 'vlc', gone!));
    const gate = ['--on-error', 'skip', '--gate', 'errors-as-zero', '--fail-under', '0.9', '--baseline', 'all.ndjson'];
    const { code, err, records, summary } = await evaluate([...argv, ...gate]);
    expect(code).toBe(1);
    expect(err).toContain('success rate with errors as 0 80.0% is below --fail-under 90.0%');
    const id = gone!.replace('.json', '');
    expect(err).toContain(`1 of the 6 tasks of all.ndjson were not run (${id}): they count as 0`);
    expect(summary).toMatchObject({ gain: expect.closeTo(-1 / 3, 12), unsupported: 1, paired_tasks: 6, not_run: 1 });
    const lost = records.find((record) => record.task_id === broken!.replace('.json', ''));
    expect(lost).toMatchObject({ score: null, domain: 'vlc', unsupported: expect.stringContaining('cannot be read') });
    const scored = await evaluate([...argv, '--on-error', 'skip', '--baseline', 'all.ndjson']);
    expect(scored.summary).toMatchObject({ gain: 0, passed: true });
    expect(scored.err).toContain('they take no part in the comparison');
  });

  it('score what can be read, where a line that is no trajectory may be skipped', async () => {
    const [first, ...rest] = TRAJECTORIES.split('\n');
    const stdin = [first, '{"type":"trajectory","v":1,"task_id":5}', ...rest].join('\n');
    expect((await evaluate(['score', '-'], { stdin })).err).toContain('stdin:2: not a valid trajectory');
    const { summary, err } = await evaluate(['score', '-', '--on-error', 'skip'], { stdin });
    expect(err).toContain('left out: stdin:2: not a valid trajectory');
    expect(summary).toMatchObject({ skipped: 1, rollouts: 3 });
  });

  it('tell a rate and a threshold apart that look alike', async () => {
    const { err } = await evaluate(['score', '-', '--fail-under', '0.66668', '--gate', 'errors-as-zero'], {
      stdin: TRAJECTORIES,
    });
    expect(err).toContain('66.667% is below --fail-under 66.668%');
  });

  it('read the baseline before anything is run', async () => {
    writeFileSync(join(dir, 'empty.ndjson'), '');
    const { code, err, records } = await evaluate([...VLC, '--policy', 'script', '--baseline', 'empty.ndjson']);
    expect([code, records]).toEqual([2, []]);
    expect(err).toContain('empty.ndjson: no result record');
  });
});

describe('the reports of dart-eval', () => {
  it('are written beside the records, each in its form', async () => {
    const { code } = await evaluate(
      [
        ...[...VLC, '--policy', 'script', '--fail-under', '0.9', '-q'],
        ...['--report', 'junit=r/a.xml,md=r/a.md', '--report', 'html=r/a.html', '--report', 'json=r/a.json'],
        ...['--report', 'github'],
      ],
      { env: { GITHUB_STEP_SUMMARY: join(dir, 'step.md') } },
    );
    expect(code).toBe(0);
    expect(junitFaults(read('r/a.xml'))).toEqual([]);
    expect(read('r/a.xml')).toContain(
      '<testsuite name="vlc" package="Evaluation of script" id="0" tests="6" failures="0"',
    );
    expect(read('step.md')).toBe(`${read('r/a.md')}\n`);
    expect(read('r/a.md')).toMatch(/^## Evaluation of script: passed\n/);
    expect(JSON.parse(read('r/a.json'))).toMatchObject({ summary: { success_rate: 1, passed: true } });
    const page = read('r/a.html');
    expect(page.match(/<article class="trajectory"/g)).toHaveLength(6);
    expect(page).toContain('href="data:image/png;base64,');
    expect(page).not.toContain('no such screenshot');
  });

  it('come of score, too, and say of a screenshot that it was not kept', async () => {
    const trajectory = trajectoryOf([{ ...JSON.parse(TRAJECTORIES.split('\n')[0]!) }].slice(1), { task_id: 'a' });
    const argv = ['score', '-', '--report', 'junit=s.xml', '--report', 'html=s.html', '-q'];
    expect((await evaluate(argv, { stdin: `${JSON.stringify(trajectory)}\n${TRAJECTORIES}` })).code).toBe(0);
    expect(junitFaults(read('s.xml'))).toEqual([]);
    expect(read('s.xml')).toContain('<error type="env_error" message="it died␇">');
    expect(read('s.html')).toContain('it died');
  });

  it.each([
    [['--report', 'junit=tasks'], 'the report would be a folder'],
    [['--report', 'junit=a-file/x.xml'], 'there is a file of that name'],
    [['--report', 'xml=a'], 'there is no report "xml". Try: junit=FILE'],
    [['--report', 'html'], 'html needs a file. Try: html=FILE'],
    [['--report', 'github'], 'GITHUB_STEP_SUMMARY is not set'],
    [['--report', 'md=same', '-o', 'same'], 'two outputs go to this file'],
    [['--report', 'md=same,json=same'], 'two outputs go to this file'],
    [['--temperature', '1e-308'], "expected a number, 0, or 0.000001 to 1000000, but received '1e-308'"],
  ])('refuse %j before anything is run', async (argv, message) => {
    const { code, err } = await evaluate([...VLC, '--policy', 'script', ...argv]);
    expect(code).toBe(2);
    expect(err.split('\n')[0]).toContain(message);
    expect(existsSync(join(dir, 'same'))).toBe(false);
  });
});

describe('the protocols of dart-eval', () => {
  const task = (extra: object) => `${JSON.stringify({ type: 'task', v: 1, id: 'i', domain: 'os', ...extra })}\n`;
  const impossible = task({ instruction: 'fly', evaluator: { func: 'infeasible' } });
  const argv = ['--tasks', '-', '--policy', 'fixed:wait', '--repeats', '1', '--max-steps', '2', '-q'];

  it('score an episode that runs into the limit as FAIL only where that was asked for', async () => {
    expect((await evaluate(argv, { stdin: impossible })).summary).toMatchObject({ success_rate: 0 });
    const counted = await evaluate([...argv, '--fail-at-limit'], { stdin: impossible });
    expect(counted.summary).toMatchObject({ success_rate: 1, fail_at_limit: true, protocol: 'verified', max_steps: 2 });
  });

  it('forbid it under hard, and let a FAIL of the policy count', async () => {
    const { code, err } = await evaluate([...argv, '--fail-at-limit', '--protocol', 'hard'], { stdin: impossible });
    expect(code).toBe(2);
    expect(err).toContain('--fail-at-limit: the Hard protocol forbids');
    const own = argv.map((word) => word.replace('fixed:wait', 'fixed:fail'));
    const hard = await evaluate([...own, '--protocol', 'hard'], { stdin: impossible });
    expect(hard.summary).toMatchObject({ success_rate: 1, protocol: 'hard' });
  });

  it('name what cannot be scored, do not run it, and never count it as scored', async () => {
    const stdin = task({
      instruction: 'guess',
      evaluator: { func: 'guess_well', result: { type: 'mind' }, expected: { type: 'rule' } },
      config: [{ type: 'teleport' }],
    });
    const { code, records, err } = await evaluate(argv, { stdin: stdin + impossible.replace('"i"', '"j"') });
    expect(code).toBe(0);
    const reason =
      'set-up step teleport is not supported; getter mind is not supported; metric guess_well is not supported';
    expect(records[0]).toMatchObject({ task_id: 'i', score: null, rollouts: 0, unsupported: reason });
    expect(records.at(-1)).toMatchObject({ tasks: 2, unsupported: 1, success_rate: 0, success_rate_errors_as_zero: 0 });
    expect(err).toContain(`i: not run: ${reason}`);
  });

  it('count an evaluator that throws and an asset that is missing as errors, never as 0', async () => {
    const broken = task({
      ...{ id: 'broken', instruction: 'x' },
      evaluator: {
        func: 'check_list',
        result: { type: 'inline_file', content: 'a' },
        expected: { type: 'rule', rules: 7 },
      },
    });
    const lacking = task({
      ...{ id: 'lacking', instruction: 'x', evaluator: { func: 'infeasible' } },
      config: [
        { type: 'download', parameters: { files: [{ url: 'https://x.test/a.txt', path: '/home/user/a.txt' }] } },
      ],
    });
    const climbing = lacking.replace('lacking', 'climbing').replace('x.test/a.txt', 'x.test/../../a.txt');
    const offline = ['--offline', '--asset-cache', join(dir, 'none'), '--assets', dir];
    const { code, records } = await evaluate([...argv, ...offline], { stdin: broken + lacking + climbing });
    expect(code).toBe(1);
    expect(records.slice(0, 3)).toMatchObject([
      { task_id: 'broken', score: null, outcomes: { evaluator_error: 1 } },
      { task_id: 'climbing', score: null, error: expect.stringContaining('would leave the assets folder') },
      {
        task_id: 'lacking',
        score: null,
        error: expect.stringContaining('asset https://x.test/a.txt: the asset is not in the cache'),
      },
    ]);
    expect(records.at(-1)).toMatchObject({ errored: 3, scored: 0, success_rate: null, passed: false });
  });
});

describe('what is told of names', () => {
  it('cannot drive a terminal', async () => {
    const bad = trajectoryOf([], { task_id: 'a', trajectory_id: 'a', domain: 'os\u0007\u001b[2Jx\u009b' });
    const task = { type: 'task', v: 1, id: 'un', instruction: 'x', evaluator: { func: 'fore\u001b]0;x\u0007' } };
    const table = await evaluate(['score', '-', '--table'], { stdin: `${JSON.stringify(bad)}\n` });
    const told = await evaluate(['--tasks', '-', '--policy', 'random'], { stdin: `${JSON.stringify(task)}\n` });
    expect(told.err).toContain('un: not run: metric fore␛]0;x␇ is not supported');
    expect(table.err).toContain('os␇x');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(table.err + told.err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(table.err).toContain('over 1 rollout of 1 task\n');
  });
});

describe('a verdict that nobody reads the records of', () => {
  /** A pipe whose reader left after the first line. */
  const left = () => {
    let lines = 0;
    return new Writable({
      write(_chunk, _encoding, done) {
        lines += 1;
        done(lines > 1 ? Object.assign(new Error('EPIPE'), { code: 'EPIPE' }) : null);
      },
    });
  };

  it('is given all the same, and so are the reports', async () => {
    const io = { ...testIo({ stdin: TRAJECTORIES, cwd: dir }), stdout: left() };
    const argv = ['score', '-', '--fail-under', '0.9', '--gate', 'errors-as-zero', '--report', 'junit=left.xml'];
    expect(await runCommand(spec, argv, io)).toBe(1);
    expect(io.err()).toContain('success rate with errors as 0 66.7% is below --fail-under 90.0%');
    expect(junitFaults(read('left.xml'))).toEqual([]);
  });

  it('does not end early either', async () => {
    const stop = new AbortController();
    stop.abort(new ReaderGone());
    const argv = ['score', '-', '--fail-under', '0.7', '--gate', 'errors-as-zero'];
    const io = { ...testIo({ stdin: TRAJECTORIES, cwd: dir }), stdout: left(), signal: stop.signal };
    expect(await runCommand(spec, argv, io)).toBe(1);
    expect(io.err()).toContain('66.7% is below --fail-under 70.0%');
  });

  it('is 0 where none was asked for', async () => {
    const io = { ...testIo({ stdin: TRAJECTORIES, cwd: dir }), stdout: left() };
    expect(await runCommand(spec, ['score', '-'], io)).toBe(0);
    expect(io.err()).toBe('');
  });

  it('needs a baseline for --max-regression', async () => {
    const { code, err } = await evaluate(['score', '-', '--max-regression', '0.1'], { stdin: TRAJECTORIES });
    expect(code).toBe(2);
    expect(err).toContain('--max-regression: there is nothing to have fallen from. Try: --baseline FILE with it');
  });
});
