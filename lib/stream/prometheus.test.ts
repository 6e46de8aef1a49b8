import { describe, expect, it } from 'vitest';
import { byLabel, prometheusText, single } from './prometheus.ts';

describe('prometheusText', () => {
  it('describes each metric and gives a line to each sample', () => {
    const text = prometheusText([
      single('dart_rollout_steps_total', 'counter', 'Steps recorded.', 1234),
      byLabel('dart_rollout_trajectories_total', 'counter', 'Ended.', 'outcome', [
        ['success', 3],
        ['failure', 0],
      ]),
      single('dart_rollout_uptime_seconds', 'gauge', 'Since the start.', 0.25),
    ]);
    expect(text).toBe(
      [
        '# HELP dart_rollout_steps_total Steps recorded.',
        '# TYPE dart_rollout_steps_total counter',
        'dart_rollout_steps_total 1234',
        '# HELP dart_rollout_trajectories_total Ended.',
        '# TYPE dart_rollout_trajectories_total counter',
        'dart_rollout_trajectories_total{outcome="success"} 3',
        'dart_rollout_trajectories_total{outcome="failure"} 0',
        '# HELP dart_rollout_uptime_seconds Since the start.',
        '# TYPE dart_rollout_uptime_seconds gauge',
        'dart_rollout_uptime_seconds 0.25',
        '',
      ].join('\n'),
    );
  });

  it('escapes what a help text or a label may hold', () => {
    const metric = byLabel('x', 'gauge', 'back\\slash\nand "quotes"', 'name', [['C:\\a\n"b"', 1]]);
    expect(prometheusText([metric])).toBe(
      '# HELP x back\\\\slash\\nand "quotes"\n# TYPE x gauge\nx{name="C:\\\\a\\n\\"b\\""} 1\n',
    );
  });

  it('leaves out what is not known and writes what is not finite as the format does', () => {
    const values: [string, number | null][] = [
      ['a', null],
      ['b', Number.NaN],
      ['c', Number.POSITIVE_INFINITY],
      ['d', Number.NEGATIVE_INFINITY],
      ['e', 1e-7],
    ];
    expect(
      prometheusText([byLabel('x', 'gauge', 'h', 'k', values)])
        .split('\n')
        .slice(2),
    ).toEqual(['x{k="b"} NaN', 'x{k="c"} +Inf', 'x{k="d"} -Inf', 'x{k="e"} 1e-7', '']);
  });

  it('refuses what would make Prometheus refuse the page', () => {
    expect(() => prometheusText([single('a-b', 'gauge', 'h', 1)])).toThrow('"a-b" is no name of a metric');
    expect(() => prometheusText([single('a', 'counter', 'h', 1)])).toThrow('does not end in _total');
    const one = single('a', 'gauge', 'h', 1);
    expect(() => prometheusText([one, one])).toThrow('a comes twice');
    const pair: [string, number] = ['x', 1];
    expect(() => prometheusText([byLabel('a', 'gauge', 'h', 'k', [pair, pair])])).toThrow('a{k="x"} comes twice');
    expect(() => prometheusText([byLabel('a', 'gauge', 'h', '__k', [pair])])).toThrow('"__k" is no name of a label');
    const twice = { ...one, samples: [{ value: 1 }, { value: 2 }] };
    expect(() => prometheusText([twice])).toThrow('a comes twice');
  });
});
