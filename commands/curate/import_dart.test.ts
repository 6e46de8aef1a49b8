import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Demonstration, Trajectory } from '../../lib/stream/records.ts';
import { shared } from '../../lib/stream/shared.testing.ts';
import { curateIn, grey } from './curate.testing.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-import-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const curate = (args: string[], input?: string) => curateIn(cwd, args, input);
const blobs = () =>
  readdirSync(join(cwd, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.png'));
const TASK = '00000000-0000-4000-8000-00000000000a';
const NAME = `${TASK}_trace-abc-1758785787`;

const user = (...content: object[]) => ({ role: 'user', content });
const text = (text: string) => ({ type: 'text', text });
const image = (image_url: unknown) => ({ type: 'image_url', image_url });
const reply = (action: string) => ({ role: 'assistant', content: [text(`Thought: so.\nAction: ${action}`)] });

/** A conversation of two replies on a screen of 280x140 (a multiple of 28, but less than the least area). */
function conversation(first: object = image('image_0000.png')): object[] {
  return [
    { role: 'system', content: 'You are a helpful assistant.' },
    user(text('You are a GUI agent.\n\n## User Instruction\nPress the button\n'), first),
    reply("click(start_box='<|box_start|>(140,70)<|box_end|>')"),
    user(image('image_0001.png')),
    reply("finished(content='好')"),
    user(image('image_0002.png')),
  ];
}

/** `<name>.json` and its folder of images, as DART's service leaves them. */
function writeTrace(name: string, messages: object[], files: Record<string, string> = {}): void {
  mkdirSync(join(cwd, 'traces', name), { recursive: true });
  writeFileSync(join(cwd, 'traces', `${name}.json`), JSON.stringify(messages));
  [1, 2, 1].forEach((shade, i) => {
    writeFileSync(join(cwd, 'traces', name, `image_000${i}.png`), grey(shade, 280, 140));
  });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(cwd, 'traces', name, file), content);
}

const importDart = (...more: string[]) => curate(['import', '--from', 'dart', 'traces', '--blobs', 'blobs', ...more]);

describe('dart-curate import --from dart', () => {
  it('makes a trajectory of a conversation', async () => {
    writeTrace(NAME, conversation(), { 'reward.txt': '1.0\n', 'data_for_step_0.pt': 'tensor' });
    const { code, records, stderr, summary } = await importDart();
    expect(code).toBe(0);
    const trajectory = records[0] as unknown as Trajectory;
    expect(trajectory).toMatchObject({
      task_id: TASK,
      trace_id: 'trace-abc-1758785787',
      instruction: 'Press the button',
      reward: 1,
      outcome: 'success',
      domain: 'unknown',
      group_size: 1,
      imported_from: 'dart',
      started_at: '2025-09-25T07:36:27.000Z',
    });
    // 280x140 is shown as 420x224 (√(78400/39200) = 1.414…, rounded up to multiples of 28): 140/420 of 280 is 93.
    expect(trajectory.steps.map((step) => step.actions)).toEqual([
      [{ type: 'click', x: 93, y: 44 }],
      [{ type: 'finished', text: '好' }],
    ]);
    expect(trajectory.steps[0]).toMatchObject({
      response: { text: "Thought: so.\nAction: click(start_box='<|box_start|>(140,70)<|box_end|>')", token_ids: [] },
      observation: { screenshot: { width: 280, height: 140, media_type: 'image/png' } },
      prompt: { history: 0, screenshots: 1 },
    });
    expect(trajectory.steps[1]!.prompt).toEqual({ history: 1, screenshots: 2 });
    expect(blobs()).toHaveLength(2);
    expect(summary).toMatchObject({ trajectories: 1, successes: 1, steps: 2, token_files_unread: 1 });
    expect(stderr).toContain('1 files data_for_step_*.pt hold token ids');
  });

  it('takes coordinates as it is told to', async () => {
    writeTrace(NAME, conversation(), { 'reward.txt': '0' });
    const { records } = await importDart('--coordinates', 'absolute');
    expect((records[0] as unknown as Trajectory).steps[0]!.actions).toEqual([{ type: 'click', x: 140, y: 70 }]);
  });

  it('reads final_messages.json in the trace’s folder, and images in base64', async () => {
    const folder = join(cwd, 'traces', NAME);
    mkdirSync(folder, { recursive: true });
    const url = `data:image/png;base64,${grey(7, 280, 140).toString('base64')}`;
    writeFileSync(
      join(folder, 'final_messages.json'),
      JSON.stringify([user(text('## User Instruction\nGo'), image({ url })), reply('wait()')]),
    );
    writeFileSync(join(folder, 'reward.txt'), '0.25');
    const { records } = await importDart();
    expect(records[0]).toMatchObject({ task_id: TASK, instruction: 'Go', reward: 0.25, outcome: 'truncated' });
    expect(blobs()).toHaveLength(1);
  });

  it('says when there is no reward, and takes --reward only then', async () => {
    writeTrace(NAME, conversation());
    writeTrace(`${TASK}_trace-two`, conversation(), { 'reward.txt': '0' });
    const without = await importDart();
    expect(without.of('event')).toEqual([
      expect.objectContaining({ event: 'reward_missing', where: `traces/${NAME}.json`, outcome: 'evaluator_error' }),
    ]);
    expect(without.of('trajectory').map((record) => [record.reward, record.outcome])).toEqual([
      [null, 'evaluator_error'],
      [0, 'failure'],
    ]);
    expect(without.stderr).toContain('1 trajectories have no reward and cannot be learned from. Try: --reward R');
    const given = await importDart('--reward', '1');
    expect(given.of('trajectory').map((record) => record.reward)).toEqual([1, 0]);
  });

  it.each([
    ['-1', null, 'evaluator_error'],
    ['-2', null, 'policy_error'],
    ['', null, 'evaluator_error'],
  ])('knows what a reward of "%s" means', async (reward, value, outcome) => {
    writeTrace(NAME, conversation(), { 'reward.txt': reward });
    expect((await importDart()).of('trajectory')[0]).toMatchObject({ reward: value, outcome });
  });

  it.each([
    ['7', 'the reward 7 is not within 0..1. Try: a number from 0 to 1'],
    ['nan', 'the reward is "nan", not a number'],
  ])('refuses a reward of %s', async (reward, message) => {
    writeTrace(NAME, conversation(), { 'reward.txt': reward });
    writeTrace(`${TASK}_trace-z`, conversation(), { 'reward.txt': '1' });
    const { code, stderr } = await importDart();
    expect([code, stderr]).toEqual([2, expect.stringContaining(`dart-curate: traces/${NAME}/reward.txt: ${message}`)]);
    const skipping = await importDart('--on-error', 'skip');
    expect([skipping.code, skipping.of('trajectory').length, skipping.summary.skipped_files]).toEqual([2, 1, 1]);
  });

  it('leaves a step without screenshot out, but not its reply, and says why', async () => {
    writeFileSync(join(cwd, 'secret.png'), grey(9));
    for (const [name, reason] of [
      ['../../secret.png', 'its path is not inside the folder'],
      [join(cwd, 'secret.png'), 'its path is not inside the folder'],
      ['https://example.org/a.png', 'it is not a file but an address'],
      ['none.png', 'there is no such file'],
      ['reward.txt', 'it is not a PNG'],
      ['link.png', 'it is a link out of the folder'],
      ['torn.png', 'it is cut short'],
    ] as const) {
      rmSync(join(cwd, 'traces'), { recursive: true, force: true });
      writeTrace(NAME, conversation(image(name)), { 'reward.txt': '1' });
      symlinkSync(join(cwd, 'secret.png'), join(cwd, 'traces', NAME, 'link.png'));
      writeFileSync(join(cwd, 'traces', NAME, 'torn.png'), grey(3, 280, 140).subarray(0, 60));
      const { code, of, summary } = await importDart();
      expect(of('event')).toEqual([
        expect.objectContaining({ event: 'screenshot_missing', step_index: 0, reason }),
        expect.objectContaining({ event: 'trajectory_incomplete', missing: 1, missing_steps: [0] }),
      ]);
      const { steps } = of('trajectory')[0] as unknown as Trajectory;
      expect(steps.map((step) => [step.index, step.prompt.history])).toEqual([[1, 1]]);
      expect([code, summary.steps_left_out]).toEqual([0, 1]);
    }
  });

  it('keeps the replies of a hole in the middle as history, in demonstrations too', async () => {
    const actions = ['click', 'b', 'c', 'd', 'e'].map((content, i) =>
      i === 0 ? "click(start_box='(140,70)')" : `type(content='${content}')`,
    );
    const turns = actions.flatMap((action, i) => [user(image(`s${i}.png`)), reply(action)]);
    writeTrace(NAME, [user(text('## User Instruction\nGo')), ...turns], { 'reward.txt': '1' });
    for (const i of [0, 4]) writeFileSync(join(cwd, 'traces', NAME, `s${i}.png`), grey(i, 280, 140));
    const { of, stdout, stderr } = await importDart();
    const trajectory = of('trajectory')[0] as unknown as Trajectory;
    const said = (action: string) => `Thought: so.\nAction: ${action}`;
    expect(trajectory.missing_steps).toEqual([1, 2, 3]);
    expect(trajectory.steps.map(({ index, prompt }) => [index, prompt])).toEqual([
      [0, { history: 0, screenshots: 1 }],
      // Its own screen only: the newest reply has none, and a screen must not stand before another's reply.
      [4, { history: 4, screenshots: 1, unseen_replies: actions.slice(1, 4).map(said) }],
    ]);
    expect(stderr).toContain('3 steps of 1 episodes have no screenshot and were left out; their replies stay');
    const demos = (await curate(['demos'], stdout)).of('demonstration') as unknown as Demonstration[];
    expect(demos.map(({ history, screenshots }) => [history, screenshots])).toEqual([
      [[], undefined],
      [actions.slice(0, 4).map(said), undefined],
    ]);
    const strict = await importDart('--require-screens');
    expect([strict.code, strict.of('trajectory')]).toEqual([1, []]);
    expect(strict.of('event').at(-1)).toMatchObject({ event: 'episode_left_out', missing_steps: [1, 2, 3] });
    expect(strict.summary).toMatchObject({ incomplete: 0, incomplete_left_out: 1, steps: 0 });
  });

  it('leaves out an episode of which nothing remains', async () => {
    writeTrace(NAME, [user(text('go')), reply('wait()')]);
    const { code, of, stderr } = await importDart();
    expect(of('event').map((record) => [record.event, record.reason])).toEqual([
      ['screenshot_missing', 'there is no screenshot before this step'],
      ['episode_left_out', 'no_steps'],
    ]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('1 episodes had nothing to learn from')]);
  });

  it('passes over other JSON in a folder, and refuses it when it is asked for', async () => {
    writeTrace(NAME, conversation(), { 'reward.txt': '1' });
    writeFileSync(join(cwd, 'traces', 'config.json'), '{"a": 1}');
    expect((await importDart()).summary).toMatchObject({ trajectories: 1, skipped_files: 0 });
    const asked = await curate(['import', '--from', 'dart', 'traces/config.json']);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('config.json: not a list of messages')]);
    writeFileSync(join(cwd, 'traces', 'broken.json'), '[{"role":');
    const broken = await importDart();
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('broken.json:1: not JSON')]);
    const missing = await curate(['import', '--from', 'dart', 'nowhere']);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('nowhere: cannot read: no such file')]);
  });

  it('gives the same ids and bytes wherever the files lie', async () => {
    writeTrace(NAME, conversation(), { 'reward.txt': '1' });
    const first = await importDart();
    cpSync(join(cwd, 'traces'), join(cwd, 'elsewhere', 'deep'), { recursive: true });
    const again = await curate(['import', '--from', 'dart', `elsewhere/deep/${NAME}.json`, '--blobs', 'blobs']);
    expect(again.stdout).toBe(first.stdout);
    rmSync(join(cwd, 'traces', NAME, 'reward.txt'));
    expect((await importDart()).of('trajectory')[0]!.trajectory_id).not.toBe(first.records[0]!.trajectory_id);
  });

  it('finds the file of a trace’s folder beside it, and says what is wanted where there is none', async () => {
    writeTrace(NAME, conversation(), { 'reward.txt': '1', 'config.json': '{}' });
    const whole = await importDart();
    const run = (path: string) => curate(['import', '--from', 'dart', path, '--blobs', 'blobs']);
    for (const path of [`traces/${NAME}`, `traces/${NAME}/`]) {
      expect((await run(path)).of('trajectory')).toEqual(whole.of('trajectory'));
    }
    rmSync(join(cwd, 'traces', `${NAME}.json`));
    const { code, stderr } = await run(`traces/${NAME}`);
    const wanted = 'no episode of the form dart was found. Try: the conversations TASK_TRACE.json, which lie beside';
    expect([code, stderr]).toEqual([1, expect.stringContaining(`traces/${NAME}: ${wanted}`)]);
    mkdirSync(join(cwd, 'other'));
    writeFileSync(join(cwd, 'other.json'), JSON.stringify(conversation()));
    // No folder of images: the file beside it is none of its.
    expect((await run('other')).of('trajectory')).toEqual([]);
  });

  it('does nothing with --dry-run', async () => {
    writeTrace(NAME, conversation());
    const { code, stdout, stderr } = await importDart('--dry-run', '--store', 'sqlite:dart.db');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`would import dart from traces: screenshots to ${join(cwd, 'blobs')}, stored in sqlite`);
    expect(readdirSync(cwd)).toEqual(['traces']);
  });
});

const real = shared && join(shared, 'real', 'dart');

describe.skipIf(!real)('real conversations of DART', () => {
  it('import whole: 35 replies, every action read, each picture once', async () => {
    const { code, of, summary } = await curate(['import', '--from', 'dart', real!, '--blobs', 'blobs']);
    expect([code, summary]).toEqual([
      0,
      expect.objectContaining({ trajectories: 5, steps: 35, parse_errors: 0, steps_left_out: 0, without_reward: 5 }),
    ]);
    const steps = of('trajectory').flatMap((record) => (record as unknown as Trajectory).steps);
    expect(steps).toHaveLength(35);
    expect(steps.every((step) => step.actions.length > 0 && step.parse_error === undefined)).toBe(true);
    expect(steps.filter((step) => step.actions.length === 3).map((step) => step.actions)).toEqual([
      [
        { type: 'hotkey', keys: ['ctrl', 'a'] },
        { type: 'hotkey', keys: ['ctrl', 'a'] },
        { type: 'hotkey', keys: ['backspace'] },
      ],
    ]);
    const ends = of('trajectory').map((record) => (record as unknown as Trajectory).steps.at(-1)!.actions[0]);
    expect(ends[0]).toEqual({ type: 'finished', text: '已为你开启“请勿跟踪”功能以增强在线隐私。' });
    const files = readdirSync(real!, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.png'));
    const different = new Set(files.map((name) => readFileSync(join(real!, name)).toString('base64')));
    expect([files.length, different.size]).toEqual([40, 35]);
    expect(blobs()).toHaveLength(35);
  });

  it('give one demonstration a step where they are said to have succeeded', async () => {
    const imported = await curate(['import', '--from', 'dart', real!, '--blobs', 'blobs', '--reward', '1']);
    const { code, of, summary } = await curate(['demos', '--blobs', 'blobs'], imported.stdout);
    const demos = of('demonstration') as unknown as Demonstration[];
    expect([code, demos.length, summary.episodes]).toEqual([0, 35, 5]);
    expect(demos[8]).toMatchObject({ step_index: 8, instruction: expect.stringContaining('Do Not Track') });
    expect(demos[8]!.history).toHaveLength(8);
  });

  it('take domain and instruction from a task folder', async () => {
    const tasks = join(shared!, 'osworld', 'examples');
    const args = ['import', '--from', 'dart', real!, '--blobs', 'blobs', '--task-dir', tasks];
    const domains = (await curate(args)).of('trajectory').map((record) => record.domain);
    expect(domains).toEqual(['chrome', 'vs_code', 'vs_code', 'libreoffice_writer', 'os']);
  });

  it('enter the pool once, however often they come', async () => {
    const args = ['import', '--from', 'dart', real!, '--blobs', 'blobs', '--reward', '1', '--store', 'sqlite:a.db'];
    expect((await curate(args)).summary).toMatchObject({ stored: 5, pooled: 5 });
    expect((await curate(args)).summary).toMatchObject({ stored: 0, pooled: 0 });
    const list = await curate(['pool', 'list', '--store', 'sqlite:a.db', '--table']);
    expect(list.records[0]).toMatchObject({ successes: 1, unscored: 1 });
    expect(list.stderr).toContain('without log-probs');
    const exported = await curate(['pool', 'export', '--store', 'sqlite:a.db']);
    const added = await curate(['pool', 'add', '--store', 'sqlite:b.db'], exported.stdout);
    expect(added.summary).toMatchObject({ added: 5 });
    expect((await curate(['pool', 'export', '--store', 'sqlite:b.db'])).stdout).toBe(exported.stdout);
  });
});

describe('an import without capacity', () => {
  it('does not bring back what newer successes pushed out', async () => {
    for (const trace of ['a', 'b', 'c']) {
      writeTrace(`${TASK}_trace-${trace}`, [...conversation(), reply(`type(content='${trace}')`)], {
        'reward.txt': '1',
      });
    }
    const args = ['--store', 'sqlite:a.db', '--pool-capacity', '2'];
    expect((await importDart(...args)).summary).toMatchObject({ stored: 3, pooled: 3 });
    const before = (await curate(['pool', 'export', '--store', 'sqlite:a.db'])).stdout;
    expect((await importDart(...args)).summary).toMatchObject({ stored: 0, pooled: 0 });
    expect((await curate(['pool', 'export', '--store', 'sqlite:a.db'])).stdout).toBe(before);
    expect(before.split('\n').filter((line) => line.includes('"trajectory"'))).toHaveLength(2);
  });
});
