import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeStep, makeTrajectory } from '../stream/records.testing.ts';
import { parseReply } from './grammar/index.ts';
import { openPolicy } from './open.ts';
import { someRequest, someTask } from './request.testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

function trajectory(task_id: string, texts: string[]): string {
  const steps = texts.map((text, index) => ({
    ...makeStep(index, { text, token_ids: [7, 8], logprobs: [-0.5, null] }),
    model_version: 3,
  }));
  return JSON.stringify(makeTrajectory(steps, { trajectory_id: texts.join(), task_id }));
}

describe('openPolicy', () => {
  it('lists the known policies when it is given an unknown one', async () => {
    await expect(openPolicy('rndom')).rejects.toMatchObject({
      message: 'unknown policy "rndom"',
      hint: expect.stringContaining('replay:FILE'),
    });
    await expect(openPolicy('fixed:dance')).rejects.toMatchObject({ hint: 'fixed:finished, fixed:fail, fixed:wait' });
    await expect(openPolicy('script:noise=2')).rejects.toMatchObject({ hint: 'script:noise=0.2' });
  });

  it('says what a path of an onnx policy lacks, also that of a published folder', async () => {
    const message = (spec: string) => `'${spec}' does not say which kind of policy it is`;
    await expect(openPolicy('models/base.onnx')).rejects.toMatchObject({
      message: message('models/base.onnx'),
      hint: '--policy onnx:models/base.onnx',
    });
    await expect(openPolicy(folder)).rejects.toMatchObject({ message: `unknown policy "${folder}"` });
    writeFileSync(join(folder, 'policy.onnx'), '');
    await expect(openPolicy(folder)).rejects.toMatchObject({
      message: message(folder),
      hint: `--policy onnx:${folder}`,
    });
  });

  it('names a policy file that is not there', async () => {
    const missing = join(folder, 'no.onnx');
    await expect(openPolicy(`onnx:${missing}`)).rejects.toMatchObject({
      message: 'there is no such policy file',
      where: missing,
    });
    await expect(openPolicy('onnx')).rejects.toMatchObject({ message: 'the policy "onnx" names no file' });
  });

  it('fixed says one thing', async () => {
    const policy = await openPolicy('fixed:finished');
    expect((await policy.act(someRequest())).text).toBe('Action: finished()');
    expect((await policy.act(someRequest({ stepIndex: 5 }))).text).toBe('Action: finished()');
  });

  it('random: same seed, same reply; every reply can be played; all kinds of action occur', async () => {
    const policy = await openPolicy('random');
    const screen = { width: 160, height: 120 };
    const kinds = new Set<string>();
    for (let seed = 0; seed < 1000; seed++) {
      const { text } = await policy.act(someRequest({ seed }));
      expect((await policy.act(someRequest({ seed }))).text).toBe(text);
      const { actions, parseError } = parseReply(text, { screen, coordinates: 'absolute' });
      expect(parseError).toBeNull();
      kinds.add(actions[0]!.type);
    }
    expect([...kinds].sort()).toEqual([
      'click',
      'double_click',
      'fail',
      'finished',
      'hotkey',
      'right_click',
      'scroll',
      'type',
      'wait',
    ]);
  });

  it('replay says what was recorded, one recording after the other', async () => {
    const path = join(folder, 'recorded.ndjson');
    const lines = [
      trajectory('os/one', ['Action: wait()', 'Action: finished()']),
      trajectory('os/one', ['Action: fail()']),
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    const policy = await openPolicy(`replay:${path}`);
    const say = async (episode: string, stepIndex: number) =>
      (await policy.act(someRequest({ episode, stepIndex }))).text;
    expect(await say('first', 0)).toBe('Action: wait()');
    expect(await say('second', 0)).toBe('Action: fail()');
    expect(await say('first', 1)).toBe('Action: finished()');
    expect(await say('third', 0)).toBe('Action: wait()');
    expect(await policy.act(someRequest({ episode: 'fourth' }))).toMatchObject({
      tokenIds: [7, 8],
      logprobs: [-0.5, null],
      modelVersion: 3,
    });
    await expect(say('second', 1)).rejects.toMatchObject({ message: 'the recording of os/one ends after 1 steps' });
    const other = someRequest({ task: someTask('os/other'), episode: 'fifth' });
    await expect(policy.act(other)).rejects.toMatchObject({ message: 'no recording of task os/other' });
  });
});
