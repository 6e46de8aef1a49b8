import { describe, expect, it } from 'vitest';
import type { AccessibleNode } from '../guest/guest.ts';
import { someRequest, someTask } from './request.testing.ts';
import { type ExpertSource, ScriptPolicy } from './script.ts';

/** An expert of named buttons: the step `b` clicks the node `b`; a step in capitals is typed and needs no widget. */
const source: ExpertSource<string> = {
  expertOf: (task) => (task.expert as string[] | undefined) ?? null,
  namesWidget: (step) => step !== step.toUpperCase(),
  expertAction: (step, tree) => {
    if (step === step.toUpperCase()) return { type: 'type', text: step };
    const node = tree.children.find((child) => child.name === step);
    return node?.bounds ? { type: 'click', x: node.bounds.x, y: node.bounds.y } : null;
  },
};

/** Buttons `a` at (10, 0), `b` at (20, 0), … */
function screenWith(names: string): () => Promise<AccessibleNode> {
  const children = [...names].map((name) => ({
    role: 'push-button',
    name,
    states: ['showing'],
    children: [],
    bounds: { x: (name.charCodeAt(0) - 96) * 10, y: 0, width: 8, height: 8 },
  }));
  return async () => ({ role: 'desktop-frame', name: '', states: [], children });
}

const click = (letter: string) => `Action: click(start_box='(${(letter.charCodeAt(0) - 96) * 10},0)')`;
const esc = "Action: hotkey(key='esc')";

/** What the policy says while the screen shows these buttons, step by step, of one episode. */
async function play(policy: ScriptPolicy, expert: string[], screens: string[], episode = 'e1'): Promise<string[]> {
  const task = someTask('os/one', { expert });
  const said: string[] = [];
  for (const [stepIndex, names] of screens.entries()) {
    const request = someRequest({ task, episode, stepIndex, seed: stepIndex, accessibility: screenWith(names) });
    said.push((await policy.act(request)).text);
  }
  return said;
}

describe('ScriptPolicy', () => {
  it('does the steps of the expert and then says finished', async () => {
    const said = await play(new ScriptPolicy(source), ['a', 'b', 'X'], ['ab', 'ab', 'ab', 'ab']);
    expect(said).toEqual([click('a'), click('b'), "Action: type(content='X')", 'Action: finished()']);
  });

  it('says which task and which step it gives up at', async () => {
    const told: string[] = [];
    const policy = new ScriptPolicy(source, { tell: (line) => told.push(line) });
    const said = await play(policy, ['a', 'b'], ['a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a']);
    expect(said.some((text) => text.includes('the widget of step 2 is missing'))).toBe(true);
    expect(told).toEqual(['os/one: the expert finds no widget for its step 2: "b"']);
  });

  it('says nothing of an episode that random actions have led astray', async () => {
    const told: string[] = [];
    const policy = new ScriptPolicy(source, { noise: 0.3, tell: (line) => told.push(line) });
    const screens = Array.from({ length: 30 }, () => 'a');
    const said = await play(policy, ['a', 'b'], screens);
    expect(said.some((text) => text.includes('the widget of step 2 is missing'))).toBe(true);
    expect(told).toEqual([]);
  });

  it('keeps episodes apart, and begins anew at step 0', async () => {
    const policy = new ScriptPolicy(source);
    expect(await play(policy, ['a', 'b'], ['ab'], 'e1')).toEqual([click('a')]);
    expect(await play(policy, ['a', 'b'], ['ab', 'ab'], 'e2')).toEqual([click('a'), click('b')]);
    expect(await play(policy, ['a', 'b'], ['ab'], 'e1')).toEqual([click('a')]);
  });

  it('recovers when a widget is missing: esc, then back to the latest step whose widget is there', async () => {
    // b closes before it can be clicked; only a (which opens it) is left.
    const said = await play(new ScriptPolicy(source), ['a', 'b', 'c'], ['a', 'b', 'a', 'a', 'b', 'c']);
    expect(said).toEqual([click('a'), click('b'), esc, click('a'), click('b'), click('c')]);
  });

  it('says fail after four recoveries that led nowhere', async () => {
    const said = await play(new ScriptPolicy(source), ['a', 'b'], ['a', '', '', '', '', '']);
    expect(said.slice(0, 5)).toEqual([click('a'), esc, esc, esc, esc]);
    expect(said[5]).toBe("Action: fail(reason='the widget of step 2 is missing')");
  });

  it('with noise 1 never follows the expert; with noise 0.3 it does about seven times of ten', async () => {
    const followed = async (noise: number) => {
      const policy = new ScriptPolicy(source, { noise });
      const replies = await Promise.all(
        Array.from({ length: 400 }, (_, seed) =>
          policy.act(
            someRequest({
              task: someTask('os/one', { expert: ['a'] }),
              episode: `${seed}`,
              seed,
              accessibility: screenWith('a'),
            }),
          ),
        ),
      );
      // (10, 0) is no cell centre, and the only widget's centre is (14, 4): noise cannot hit it.
      return replies.filter((reply) => reply.text === click('a')).length;
    };
    expect(await followed(1)).toBe(0);
    expect(await followed(0.3)).toBeGreaterThan(250);
    expect(await followed(0.3)).toBeLessThan(310);
  });

  it('names a task without an expert', async () => {
    await expect(new ScriptPolicy(source).act(someRequest())).rejects.toMatchObject({
      message: 'this task has no expert script',
      where: 'os/one',
    });
  });
});
