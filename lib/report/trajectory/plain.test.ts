import { describe, expect, it } from 'vitest';
import { stepOf, trajectoryOf } from './example.testing.ts';
import { plainTrajectory } from './plain.ts';

const text = (trajectory: Parameters<typeof plainTrajectory>[0], options = { colour: false, width: 100 }) =>
  [...plainTrajectory(trajectory, options)].join('');

describe('plainTrajectory', () => {
  it('tells a trajectory step by step', () => {
    const second = stepOf({ actions: [], parse_error: 'unknown verb' }, { text: '', entropies: undefined });
    const lines = text(trajectoryOf([stepOf(), second])).split('\n');
    expect(lines.slice(0, 3)).toEqual(['press the button', '  task     press (os)', '  outcome  success, reward 1']);
    expect(lines.slice(lines.indexOf('') + 1)).toEqual([
      'step 1  policy 1.2 s · desktop 56 ms · version 4 · 3 tokens · mean entropy 1.08 nats',
      expect.stringMatching(/^ {2}screen {3}640 × 360, [0-9a-f]{64}$/),
      '  thought  the button is in the middle.',
      "  reply    click(start_box='(320,180)')",
      '  action   click (320, 180)',
      '',
      'step 2  policy 1.2 s · desktop 56 ms · version 4 · 3 tokens',
      expect.stringMatching(/^ {2}screen/),
      '  action   nothing was done',
      '  problem  could not be read: unknown verb',
      '',
    ]);
  });

  it('breaks lines at blanks, counting wide characters twice', () => {
    const thought = `${'word '.repeat(20)}\n${'字'.repeat(30)}`;
    const lines = text(trajectoryOf([stepOf({}, { text: `Thought: ${thought}\nAction: x` })]), {
      colour: false,
      width: 51,
    });
    const from = lines.indexOf('  thought');
    expect(lines.slice(from, lines.indexOf('  reply')).trimEnd().split('\n')).toEqual([
      '  thought  word word word word word word word word',
      '           word word word word word word word word',
      '           word word word word',
      `           ${'字'.repeat(20)}`,
      `           ${'字'.repeat(10)}`,
    ]);
  });

  it('has colours only when asked, and never lets a reply bring its own', () => {
    const red = trajectoryOf([stepOf({}, { text: 'Thought: \u001b[31mred\u001b[2J\nAction: x' })]);
    expect(text(red)).not.toContain('\u001b');
    expect(text(red)).toContain('␛[31mred␛[2J');
    const coloured = text(red, { colour: true, width: 100 });
    expect(coloured).toContain('\u001b[32msuccess, reward 1\u001b[0m');
    expect(coloured).not.toContain('\u001b[31m');
  });
});
