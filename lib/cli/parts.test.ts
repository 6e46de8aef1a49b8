import { describe, expect, it, vi } from 'vitest';
import { watchReader } from './hangup.ts';
import { testIo } from './io.testing.ts';
import { placeholderOf, wrap } from './layout.ts';
import { xdgFolder } from './paths.ts';
import { Progress } from './progress.ts';
import { renderTable } from './table.ts';
import { editDistance, either, nearest, nearestFew } from './usage.ts';

describe('editDistance', () => {
  it('counts added, dropped, changed and swapped letters', () => {
    expect(editDistance('steps', 'steps')).toBe(0);
    expect(editDistance('step', 'steps')).toBe(1);
    expect(editDistance('steeps', 'steps')).toBe(1);
    expect(editDistance('stops', 'steps')).toBe(1);
    expect(editDistance('setps', 'steps')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
  });

  it('proposes nothing that is far away', () => {
    expect(nearest('tempurature', ['tasks', 'temperature'])).toBe('temperature');
    expect(nearest('out', ['output', 'tasks'])).toBe('output');
    expect(nearest('xyzzy', ['output', 'tasks'])).toBe(undefined);
    expect(nearestFew('reward', ['loss', 'steps', 'reward_mean', 'grad', 'rewards_chosen'])).toEqual([
      ...['reward_mean', 'rewards_chosen', 'grad'],
    ]);
    expect([['a'], ['a', 'b'], ['a', 'b', 'c']].map(either)).toEqual(['a', 'a or b', 'a, b or c']);
  });
});

describe('renderTable', () => {
  it('puts numbers to the right and writes no colours, frames or trailing blanks', async () => {
    const text = await renderTable(
      ['domain', 'success', ''],
      [
        ['chrome', '85.0%', 'x'],
        ['os', '7.5%', ''],
        ['\u001b[31mred', null, ''],
      ],
    );
    expect(text).toBe('domain  success\nchrome    85.0%  x\nos         7.5%\nred           -');
  });
});

describe('placeholderOf', () => {
  it('is the word of the table, else what is chosen, else the kind', () => {
    const option = { name: 'tis-level', type: 'string', describe: '' } as const;
    expect(placeholderOf({ ...option, choices: ['token'] })).toBe('LEVEL');
    expect(placeholderOf({ ...option, choices: ['token'], value: 'HOW' })).toBe('HOW');
    expect(placeholderOf(option)).toBe('TEXT');
    expect(placeholderOf({ ...option, type: 'integer' })).toBe('N');
  });
});

describe('wrap', () => {
  it('breaks at spaces and keeps long words whole', () => {
    expect(wrap('one two  three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a verylongword b', 4)).toEqual(['a', 'verylongword', 'b']);
  });
});

describe('xdgFolder', () => {
  it('takes absolute paths only', () => {
    expect(xdgFolder('state', { XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/dart');
    expect(xdgFolder('state', { XDG_STATE_HOME: 's', HOME: '/h' })).toBe('/h/.local/state/dart');
    expect(xdgFolder('config', { HOME: '/h' })).toBe('/h/.config/dart');
  });
});

describe('Progress', () => {
  it('writes a line every few seconds where there is no terminal, and asks for the text only then', () => {
    vi.useFakeTimers();
    const io = testIo();
    const progress = new Progress({ io, options: {}, positionals: [], command: 'dart-x' }, 'rollouts');
    const text = vi.fn(() => '3 of 9');
    for (let i = 0; i < 11; i++) {
      progress.update(text);
      vi.advanceTimersByTime(1000);
    }
    expect(text).toHaveBeenCalledTimes(2);
    progress.done('9 of 9');
    progress.update('late');
    vi.useRealTimers();
    expect(io.err()).toBe('dart-x: rollouts: 3 of 9\ndart-x: rollouts: 3 of 9\ndart-x: rollouts: 9 of 9\n');
  });

  it('writes lines, and no spinner, to a terminal without width', async () => {
    vi.useFakeTimers();
    const io = testIo();
    Object.assign(io.stderr, { isTTY: true, columns: 0 });
    const progress = new Progress({ io, options: {}, positionals: [], command: 'dart-x' }, 'rollouts');
    vi.advanceTimersByTime(6000);
    progress.update('3 of 9');
    vi.useRealTimers();
    progress.stop();
    expect(io.err()).toBe('dart-x: rollouts: 3 of 9\n');
  });

  it('is silent with --quiet', () => {
    const io = testIo();
    const progress = new Progress({ io, options: { quiet: true }, positionals: [] }, 'rollouts');
    progress.done('9 of 9');
    expect(io.err()).toBe('');
  });
});

describe('watchReader', () => {
  it('tells once that the reader has gone', () => {
    vi.useFakeTimers();
    const states = [false, false, true, true];
    const gone = vi.fn();
    watchReader(1, () => states.shift() ?? true, gone, 100);
    vi.advanceTimersByTime(250);
    expect(gone).not.toHaveBeenCalled();
    vi.advanceTimersByTime(500);
    vi.useRealTimers();
    expect(gone).toHaveBeenCalledTimes(1);
  });
});
