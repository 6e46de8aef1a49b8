import { describe, expect, it } from 'vitest';
import type { Action } from '../../stream/action.ts';
import { PIXEL_SHA, stepOf, trajectoryOf } from './example.testing.ts';
import { replyParts, stepFacts, trajectoryFacts } from './facts.ts';
import { actionChips, actionMarks } from './overlay.ts';
import { binLabels, binOf, shownTokens, stepValue } from './tokens.ts';
import { actionWords, durationWords } from './words.ts';

describe('actionWords', () => {
  it.each<[Action, string]>([
    [{ type: 'click', x: 3, y: 4 }, 'click (3, 4)'],
    [{ type: 'right_click', x: 3, y: 4 }, 'right click (3, 4)'],
    [{ type: 'drag', x: 1, y: 2, to_x: 3, to_y: 4 }, 'drag (1, 2) → (3, 4)'],
    [{ type: 'scroll', direction: 'down' }, 'scroll down 5'],
    [{ type: 'scroll', direction: 'up', amount: 2, x: 7, y: 8 }, 'scroll up 2 at (7, 8)'],
    [{ type: 'type', text: 'ls\t-l\n' }, 'type "ls⇥-l⏎"'],
    [{ type: 'hotkey', keys: ['ctrl', 's'] }, 'press ctrl+s'],
    [{ type: 'wait', ms: 1500 }, 'wait 1.5 s'],
    [{ type: 'finished', text: 'done' }, 'finished: done'],
    [{ type: 'fail' }, 'fail'],
  ])('%j', (action, words) => {
    expect(actionWords(action)).toBe(words);
  });
});

describe('durationWords', () => {
  it.each([
    [0, '0 ms'],
    [0.307, '0.31 ms'],
    [27.4, '27 ms'],
    [1300, '1.3 s'],
    [723_000, '12 min 3 s'],
    [7_500_000, '2 h 5 min'],
  ])('%d ms', (ms, words) => {
    expect(durationWords(ms)).toBe(words);
  });
});

describe('replyParts', () => {
  const partsOf = (text: string, actions: Action[] = []) => replyParts(stepOf({ actions }, { text }));

  it('tells the thought from the action', () => {
    expect(partsOf('Thought: Look.\nThen press.\nAction: click(…)')).toEqual({
      thought: 'Look.\nThen press.',
      action: 'click(…)',
    });
    expect(partsOf('**Thought**: Look.\n**Action:** wait()')).toMatchObject({ action: 'wait()' });
  });

  it('takes the action that begins a line before one inside the thought', () => {
    const text = 'Thought: The Action: menu is open.\nAction: type(content="Action: x")';
    expect(partsOf(text)).toEqual({ thought: 'The Action: menu is open.', action: 'type(content="Action: x")' });
  });

  it('loses nothing of a reply without these words', () => {
    expect(partsOf('pyautogui.click(1, 2)', [{ type: 'wait' }])).toEqual({
      thought: null,
      action: 'pyautogui.click(1, 2)',
    });
    expect(partsOf('I cannot do this.')).toEqual({ thought: 'I cannot do this.', action: null });
    expect(partsOf(' ')).toEqual({ thought: null, action: null });
  });
});

describe('trajectoryFacts', () => {
  it('says what came of it, and over what', () => {
    expect(Object.fromEntries(trajectoryFacts(trajectoryOf([stepOf(), stepOf()])))).toEqual({
      task: 'press (os)',
      outcome: 'success, reward 1',
      steps: '2 of at most 30',
      tokens: '6 tokens, mean entropy 1.08 nats',
      time: '1 min 10 s from 2026-01-02T03:04:05.000Z (policy 2.5 s, desktop 112 ms)',
      policy: 'onnx:policy, version 4, temperature 1',
      rollout: '2 of 8 in group run/press/0',
      run: 'run',
      desktop: 'embedded-0, seed 7',
      id: 'run/press/0/1',
    });
  });

  it('does not make a time of 0 of what was not measured', () => {
    const step = stepOf({ policy_ms: 0, env_ms: 0 }, { token_ids: [], logprobs: [], entropies: undefined });
    const imported = trajectoryOf([step], {
      finished_at: '2026-01-02T03:04:05.000Z',
      reward: null,
      outcome: 'env_error',
    });
    const facts = Object.fromEntries(trajectoryFacts(imported));
    expect(facts).toMatchObject({ time: 'from 2026-01-02T03:04:05.000Z', outcome: 'env_error, no reward' });
    expect(facts).not.toHaveProperty('tokens');
    expect(stepFacts(step)).toEqual([
      ['version', '4'],
      ['prompt', '0 earlier replies, 1 screenshot'],
      ['ended by', 'stop'],
    ]);
  });
});

describe('shownTokens', () => {
  it('is coloured by the entropies, and has no text where none was recorded', () => {
    const { measure, tokens } = shownTokens(stepOf());
    expect(measure).toBe('entropy');
    expect(tokens[2]).toEqual({ id: 13, text: null, value: 0.7, entropy: 0.7, logprob: null });
    expect(stepValue(stepOf())).toBeCloseTo((0.04 + 2.5 + 0.7) / 3);
  });

  it('is coloured by surprisal, and says so, where the policy reported no entropies', () => {
    const step = stepOf({}, { entropies: undefined });
    expect(shownTokens(step).measure).toBe('surprisal');
    expect(shownTokens(step).tokens.map(({ value }) => value)).toEqual([0.05, 1.5, null]);
    expect(stepValue(step)).toBe(null);
  });

  it('takes the texts of the record before those of the caller, and only one for each id', () => {
    const spell = () => ['x', 'y', 'z'];
    const texts = (tokens: unknown) => shownTokens(stepOf({}, { tokens }), spell).tokens.map(({ text }) => text);
    expect(texts(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(texts(['a', 'b'])).toEqual(['x', 'y', 'z']);
    expect(texts(undefined)).toEqual(['x', 'y', 'z']);
  });

  it('has bins from sure to open', () => {
    expect([0, 0.09, 0.1, 0.69, 1, 1.99, 2, 9].map(binOf)).toEqual([0, 0, 1, 2, 3, 3, 4, 4]);
    expect(binLabels()).toEqual(['below 0.1', '0.1 to 0.5', '0.5 to 1', '1 to 2', '2 or more']);
  });
});

describe('the marks on a screen', () => {
  const shot = { sha256: PIXEL_SHA, media_type: 'image/png', width: 1000, height: 500 };
  const marks = (...actions: Action[]) => actionMarks(actions, shot).text;

  it('rings a click once, a double click twice, and names the right button', () => {
    const rings = (text: string) => [...text.matchAll(/class="ring" cx="(\d+)" cy="(\d+)"/g)].map((m) => [m[1], m[2]]);
    expect(rings(marks({ type: 'click', x: 300, y: 200 }))).toEqual([['300', '200']]);
    expect(rings(marks({ type: 'double_click', x: 300, y: 200 }))).toHaveLength(2);
    expect(marks({ type: 'right_click', x: 300, y: 200 })).toMatch(/<text [^>]*>R<\/text>/);
  });

  it('draws a drag from where to where, and a scroll the way it goes', () => {
    expect(marks({ type: 'drag', x: 10, y: 20, to_x: 400, to_y: 300 })).toContain('d="M10 20L400 300M');
    expect(marks({ type: 'scroll', direction: 'down', x: 100, y: 100 })).toContain('d="M100 100L100 180M');
    // Without a place it is the middle of the screen.
    expect(marks({ type: 'scroll', direction: 'left' })).toContain('d="M500 250L420 250M');
  });

  it('numbers several actions and keeps the numbers inside the screen', () => {
    const text = marks({ type: 'click', x: 990, y: 5 }, { type: 'move', x: 10, y: 400 });
    expect([...text.matchAll(/text-anchor="(\w+)"[^>]*>(\d)</g)].map((m) => [m[1], m[2]])).toEqual([
      ['end', '1'],
      ['start', '2'],
    ]);
  });

  it('puts typed text and keys over the edge, escaped', () => {
    const text = actionChips([
      { type: 'type', text: '<b>\n' },
      { type: 'hotkey', keys: ['ctrl', 's'] },
    ])!.text;
    expect(text).toContain('⌨ &lt;b&gt;⏎');
    expect(text).toContain('<kbd>ctrl</kbd><kbd>s</kbd>');
    expect(actionChips([{ type: 'click', x: 1, y: 1 }])).toBe(null);
  });
});
