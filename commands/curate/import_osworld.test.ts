import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sample, Trajectory } from '../../lib/stream/records.ts';
import { curateIn, grey, lines } from './curate.testing.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-import-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const curate = (args: string[], input?: string) => curateIn(cwd, args, input);
const TREE = 'results/pyautogui/screenshot/uitars/chrome';
const folderOf = (task: string) => join(cwd, TREE, task);

const STEPS = [
  { step_num: 1, action: 'pyautogui.click(10, 5)', response: "Thought: a.\nAction: click(start_box='(70,70)')" },
  { step_num: 2, action: "pyautogui.write('hi')", response: "Action: type(content='hi')" },
  { step_num: 2, action: 'time.sleep(0.5)', response: "Action: type(content='hi')" },
  { step_num: 3, action: 'DONE', response: 'Action: finished()' },
];

/** A task folder as OSWorld's runner leaves it: the screenshots are those after each action. */
function writeResult(task: string, options: { result?: string; steps?: object[]; initial?: boolean } = {}): string {
  const folder = folderOf(task);
  mkdirSync(folder, { recursive: true });
  const records = (options.steps ?? STEPS).map((step, i) => {
    const action_timestamp = `20250925@10000${i}`;
    const { step_num } = step as { step_num: number };
    const screenshot_file = `step_${step_num}_${action_timestamp}.png`;
    writeFileSync(join(folder, screenshot_file), grey(i + 1));
    return { action_timestamp, reward: 0, done: false, info: {}, screenshot_file, ...step };
  });
  writeFileSync(join(folder, 'traj.jsonl'), lines(records));
  writeFileSync(join(folder, 'runtime.log'), 'x');
  if (options.result !== undefined) writeFileSync(join(folder, 'result.txt'), options.result);
  if (options.initial) writeFileSync(join(folder, 'step_0.png'), grey(0));
  return folder;
}

const importResults = (...more: string[]) => importFrom('results', ...more);
const importFrom = (path: string, ...more: string[]) =>
  curate(['import', '--from', 'osworld', path, '--blobs', 'blobs', ...more]);
const only = (run: { of: (type: string) => object[] }) => run.of('trajectory')[0] as Trajectory;

describe('dart-curate import --from osworld', () => {
  it('makes a trajectory of a task folder; the screen of a step is the one after the step before', async () => {
    writeResult('t1', { result: '1.0\n', initial: true });
    const run = await importResults();
    const trajectory = only(run);
    expect(trajectory).toMatchObject({
      task_id: 't1',
      domain: 'chrome',
      policy: { name: 'uitars' },
      reward: 1,
      outcome: 'success',
      started_at: '2025-09-25T10:00:00.000Z',
      finished_at: '2025-09-25T10:00:03.000Z',
    });
    expect(trajectory.steps.map((step) => step.actions)).toEqual([
      [{ type: 'click', x: 10, y: 5 }],
      [
        { type: 'type', text: 'hi' },
        { type: 'wait', ms: 500 },
      ],
      [{ type: 'finished' }],
    ]);
    expect(trajectory.steps.map((step) => step.response.text)).toEqual([
      "Thought: a.\nAction: click(start_box='(70,70)')",
      "Action: type(content='hi')",
      'Action: finished()',
    ]);
    // The screens: before anything, after step 1, after the second action of step 2.
    const hashes = trajectory.steps.map((step) => step.observation.screenshot.sha256);
    const pictures = await curate(['import', '--from', 'jsonl', writeSimple([0, 1, 3]), '--blobs', 'blobs2']);
    expect(hashes).toEqual(only(pictures).steps.map((step) => step.observation.screenshot.sha256));
    expect(run.stderr).toContain('1 trajectories have no instruction. Try: --task-dir DIR');
  });

  /** A simple form with pictures of these shades. */
  function writeSimple(shades: number[]): string {
    for (const shade of shades) writeFileSync(join(cwd, `${shade}.png`), grey(shade));
    const steps = shades.map((shade) => ({ response: 'Action: wait()', screenshot: `${shade}.png` }));
    writeFileSync(join(cwd, 'simple.ndjson'), lines([{ task_id: 't', instruction: 'i', reward: 1, steps }]));
    return 'simple.ndjson';
  }

  it('takes the tree at any level and gives the same', async () => {
    writeResult('t1', { result: '1', initial: true });
    writeResult('t2', { result: '0', initial: true });
    const { stdout } = await importResults();
    for (const level of ['results/pyautogui', 'results/pyautogui/screenshot/uitars', TREE]) {
      expect((await importFrom(level)).stdout.replaceAll(/"where":"[^"]*"/g, '')).toBe(
        stdout.replaceAll(/"where":"[^"]*"/g, ''),
      );
    }
    const one = await importFrom(`${TREE}/t2`);
    expect([only(one).task_id, only(one).domain, one.summary.trajectories]).toEqual(['t2', 'chrome', 1]);
    const file = await importFrom(`${TREE}/t2/traj.jsonl`);
    expect(only(file)).toEqual(only(one));
    cpSync(join(cwd, 'results'), join(cwd, 'moved'), { recursive: true });
    expect((await importFrom('moved')).stdout.replaceAll('"where":"moved/', '"where":"results/')).toBe(stdout);
  });

  it('leaves the first step out where its screen was not saved, unless that is given', async () => {
    writeResult('t1', { result: '1' });
    const without = await importResults();
    expect(without.of('event')).toEqual([
      expect.objectContaining({
        event: 'screenshot_missing',
        step_index: 0,
        reason: 'there is no screenshot before this step',
      }),
      expect.objectContaining({ event: 'instruction_missing' }),
      expect.objectContaining({ event: 'trajectory_incomplete', missing: 1, missing_steps: [0] }),
    ]);
    expect(only(without).steps.map((step) => step.index)).toEqual([1, 2]);
    mkdirSync(join(cwd, 'screens'));
    writeFileSync(join(cwd, 'screens', 't1.png'), grey(0));
    const given = only(await importResults('--initial-screens', 'screens'));
    writeResult('t1', { result: '1', initial: true });
    expect(given).toEqual(only(await importResults()));
  });

  it('does not make "finished()" the first step of an episode that clicked before', async () => {
    writeResult('t1', { result: '1', steps: [STEPS[0]!, { ...STEPS[3], step_num: 2 }] });
    const [step, ...others] = only(await importResults()).steps;
    expect([step!.index, step!.response.text, others]).toEqual([1, 'Action: finished()', []]);
    expect(step!.prompt).toEqual({ history: 1, screenshots: 1, unseen_replies: [STEPS[0]!.response] });
    const rendered = only(await importResults('--render-replies')).steps[0]!;
    expect(rendered.prompt.unseen_replies).toEqual(["Action: click(start_box='(10,5)')"]);
    expect((await importResults('--require-screens')).of('trajectory')).toEqual([]);
    writeResult('t2', { result: '1', initial: true });
    expect(only(await importResults('--require-screens')).task_id).toBe('t2');
  });

  it('hands the reply of a step without screen on to samples and demonstrations', async () => {
    writeResult('t1', { result: '1' });
    const won = only(await importResults());
    const lost = { ...won, trajectory_id: 'other', reward: 0, outcome: 'failure', rollout_index: 1 };
    const group = lines([won, lost].map((one) => ({ ...one, group_id: 'g', group_size: 2 })));
    const { of } = await curate([], group);
    const replies = STEPS.slice(0, 2).map((step) => step.response);
    const samples = of('sample') as unknown as Sample[];
    expect(samples.map((sample) => sample.history)).toEqual([
      replies.slice(0, 1),
      replies,
      replies.slice(0, 1),
      replies,
    ]);
    // The second step's prompt: the first reply alone, then the screen and the reply of step 2, then its own screen.
    expect(samples[1]!.screenshots).toEqual([won.steps[0]!.observation.screenshot.sha256]);
    expect(samples[0]!.screenshots).toBeUndefined();
  });

  it('takes numbers that are missing for steps of which nothing is known', async () => {
    const steps = [
      STEPS[0]!,
      { ...STEPS[1]!, step_num: 3 },
      { ...STEPS[3]!, step_num: 4 },
      { ...STEPS[3]!, step_num: 5 },
    ];
    writeResult('t1', { result: '1', initial: true, steps });
    const trajectory = only(await importResults());
    // The screen before the fourth line's step is that after the third; that before step 3 was the lost step's.
    expect(trajectory.missing_steps).toEqual([1, 2]);
    expect(trajectory.steps.map(({ index, prompt }) => [index, prompt.history, prompt.screenshots])).toEqual([
      [0, 0, 1],
      [3, 1, 1],
      [4, 2, 2],
    ]);
    expect(trajectory.steps[1]!.prompt.unseen_replies).toEqual([null, "Action: type(content='hi')"]);
  });

  it('says so where a screenshot is missing in the middle', async () => {
    const folder = writeResult('t1', { result: '1', initial: true });
    rmSync(join(folder, 'step_1_20250925@100000.png'));
    const { code, of } = await importResults();
    expect(of('event')[0]).toMatchObject({
      event: 'screenshot_missing',
      step_index: 1,
      file: 'step_1_20250925@100000.png',
      reason: 'there is no such file',
    });
    expect([code, only({ of }).steps.map((step) => step.index)]).toEqual([0, [0, 2]]);
  });

  it('finds screenshots by the runner’s pattern, and those that were saved before the action', async () => {
    writeResult('t1', {
      result: '1',
      initial: true,
      steps: STEPS.map((step) => ({ ...step, screenshot_file: undefined })),
    });
    expect(only(await importResults()).steps).toHaveLength(3);
    const folder = writeResult('t1', {
      result: '1',
      steps: [{ ...STEPS[0], screenshot_file: undefined, screenshot_file_before_exec: 'first.png' }],
    });
    rmSync(join(folder, 'step_0.png'));
    writeFileSync(join(folder, 'first.png'), grey(9));
    expect(only(await importResults()).steps).toHaveLength(1);
  });

  it('takes a missing or empty result for an evaluator that failed, and the runner’s word for its own errors', async () => {
    writeResult('t1', { initial: true });
    writeResult('t2', { initial: true, result: '' });
    const folder = writeResult('t3', { initial: true });
    writeFileSync(join(folder, 'traj.jsonl'), lines([{ Error: 'Time limit exceeded in chrome/t3' }]), { flag: 'a' });
    const { of } = await importResults();
    expect(of('trajectory').map(({ reward, outcome, error }) => [reward, outcome, error])).toEqual([
      [null, 'evaluator_error', 'no reward was recorded'],
      [null, 'evaluator_error', 'no reward was recorded'],
      [null, 'env_error', 'Time limit exceeded in chrome/t3'],
    ]);
    expect(of('event').filter(({ event }) => event === 'reward_missing')).toHaveLength(3);
  });

  it.each([
    ['1.0', 1],
    ['0.5\n', 0.5],
    ['True', 1],
    ['False', 0],
  ])('reads a result of %s', async (result, reward) => {
    writeResult('t1', { initial: true, result });
    expect(only(await importResults()).reward).toBe(reward);
  });

  it('refuses a result that is no score', async () => {
    writeResult('t1', { initial: true, result: '2' });
    const { code, stderr } = await importResults();
    expect([code, stderr]).toEqual([2, expect.stringContaining('t1/result.txt: the reward 2 is not within 0..1')]);
  });

  it('goes on without a last line that is cut short, and not without one in the middle', async () => {
    const folder = writeResult('t1', { initial: true, result: '1' });
    writeFileSync(join(folder, 'traj.jsonl'), '{"step_num": 4, "acti', { flag: 'a' });
    const { code, of, stderr } = await importResults();
    expect(of('event')[0]).toMatchObject({
      event: 'line_cut_short',
      task_id: 't1',
      where: expect.stringMatching(/:5$/),
    });
    expect([code, only({ of }).steps.length]).toEqual([0, 3]);
    expect(stderr).toContain('1 files end in a line that is cut short');
    writeFileSync(join(folder, 'traj.jsonl'), '\n{}\n', { flag: 'a' });
    const broken = await importResults();
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringMatching(/traj\.jsonl:5: not JSON/)]);
    expect((await importResults('--on-error', 'skip')).summary).toMatchObject({ trajectories: 1, skipped_files: 1 });
  });

  it('records an action that cannot be read', async () => {
    writeResult('t1', {
      initial: true,
      result: '0',
      steps: [{ step_num: 1, action: 'os.system("rm")', response: 'x' }],
    });
    const { summary, ...run } = await importResults();
    expect(only(run).steps[0]).toMatchObject({ actions: [], parse_error: expect.stringContaining('os.system is not') });
    expect(summary.parse_errors).toBe(1);
    expect(run.stderr).toContain('1 replies could not be read as actions (parse_error in the step says why)');
  });

  it('writes replies from the actions, where there is none or where that is asked for', async () => {
    const steps = STEPS.map((step, i) => ({ ...step, response: i === 0 ? { usage: 3 } : step.response }));
    writeResult('t1', { initial: true, result: '1', steps });
    expect(only(await importResults()).steps.map((step) => step.response.text)).toEqual([
      "Action: click(start_box='(10,5)')",
      "Action: type(content='hi')",
      'Action: finished()',
    ]);
    writeResult('t1', { initial: true, result: '1' });
    expect(only(await importResults('--render-replies')).steps[0]!.response.text).toBe(
      "Action: click(start_box='(10,5)')",
    );
  });

  it('refuses names that lead out of the folder', async () => {
    writeFileSync(join(cwd, 'secret.png'), grey(9));
    const steps = [{ ...STEPS[0], screenshot_file: '../../../../../../secret.png' }, STEPS[1]!];
    writeResult('t1', { initial: true, result: '1' });
    writeFileSync(join(folderOf('t1'), 'traj.jsonl'), lines(steps));
    expect((await importResults()).of('event')[0]).toMatchObject({
      event: 'screenshot_missing',
      reason: 'its path is not inside the folder',
    });
  });

  it('ends with 1 where there is no result folder', async () => {
    mkdirSync(join(cwd, 'results'));
    const { code, stderr } = await importResults();
    expect([code, stderr]).toEqual([1, expect.stringContaining('no episode of the form osworld was found')]);
  });
});
