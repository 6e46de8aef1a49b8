import { describe, expect, it } from 'vitest';
import { isRegression } from './compare.ts';
import { jsonReport } from './document.ts';
import { EVIL, evaluationOf, exampleReport } from './example.testing.ts';
import { baselineGate, thresholdGate } from './gates.ts';
import { junitReport } from './junit.ts';
import { junitFaults } from './junit_schema.testing.ts';
import { markdownReport } from './markdown.ts';

describe('the numbers of a report', () => {
  it('keep what was scored and what was not apart', () => {
    const summary = evaluationOf().summary('dart-eval');
    expect(summary).toMatchObject({
      ...{ tasks: 4, errored: 1, unsupported: 1, rollouts: 4, scored: 3 },
      // tasks: 1, 0.5; with errors as 0: 1, 0.5, 0, 0
      ...{ success_rate: 0.75, success_rate_errors_as_zero: 0.375 },
      pass_at_k: { 1: 0.75, 2: 1 },
      mean_seconds: 70,
    });
  });

  it('are what a gate says it looks at', () => {
    const summary = evaluationOf().summary('dart-eval');
    expect(thresholdGate(summary, 'scored', 0.5)).toMatchObject({
      passed: true,
      message: 'success rate over scored tasks 75.0% is not below --fail-under 50.0%',
    });
    expect(thresholdGate(summary, 'errors-as-zero', 0.5)).toMatchObject({
      passed: false,
      message: 'success rate with errors as 0 37.5% is below --fail-under 50.0%',
    });
  });
});

describe('isRegression', () => {
  const comparison = (value: number, pNotWorse: number) =>
    ({ gain: { value, low: value, high: value }, pNotWorse }) as Parameters<typeof isRegression>[0];

  it('needs a loss that is larger than allowed and no chance', () => {
    expect(isRegression(comparison(-0.1, 0.01), 0.02)).toBe(true);
    expect(isRegression(comparison(-0.1, 0.2), 0.02)).toBe(false);
    expect(isRegression(comparison(-0.02, 0), 0.02)).toBe(false);
    expect(isRegression(comparison(0.1, 0.9), 0)).toBe(false);
  });

  it('fails where there is nothing to compare with', () => {
    expect(baselineGate(null, 0.02, 'b.ndjson')).toMatchObject({
      passed: false,
      message: 'no task was scored both here and in b.ndjson',
    });
  });
});

describe('junitReport', () => {
  const xml = junitReport(exampleReport());

  it('is what the schema of JUnit files asks for, whatever messages hold', () => {
    expect(junitFaults(xml)).toEqual([]);
  });

  it('has a check that finds what is wrong', () => {
    expect(junitFaults(xml.replace('<system-err/>', ''))).toHaveLength(1);
    expect(junitFaults(xml.replace('tests="1"', 'tests="2"'))).toContain('tests should be 1');
    expect(junitFaults(xml.replace('<testsuites>', '<testsuites>\u0007'))).toHaveLength(1);
    expect(junitFaults(xml.replace('hostname="localhost"', ''))).toHaveLength(1);
    expect(junitFaults('<a/>')).toEqual(['the root is a']);
  });

  it('tells solved, failed, errored and unsupported tasks apart, and the gates', () => {
    expect(xml).toContain('<testcase name="solved" classname="os" time="70.000"/>');
    expect(xml).toMatch(
      /name="failed" classname="vlc" time="140.000">\n +<failure type="failed" message="score 0.5, 1 of 2/,
    );
    expect(xml).toMatch(/name="errored"[^>]*>\n +<error type="evaluator_error" message="a\|b &lt;b&gt;&amp;&quot;/);
    expect(xml).toMatch(/name="never"[^>]*>\n +<skipped message="metric guess is not supported"\/>/);
    expect(xml).toMatch(/name="fail-under" classname="gates"[^>]*>\n +<failure type="fail-under"/);
    expect(xml).toMatch(/<testcase name="scored" classname="gates" time="0.000"\/>/);
  });
});

describe('markdownReport', () => {
  it('says what came of it, and lets no message be markup', () => {
    const text = markdownReport(exampleReport());
    expect(text).toMatch(/^## Evaluation of a\\\|b \\<b\\>.*: failed\n/);
    expect(text).toContain('- ❌ success rate with errors as 0 37.5% is below --fail-under 50.0%');
    expect(text).toContain('| success | 75.0% (95% over tasks 50.0%–100.0%) of the scored tasks |');
    expect(text).toContain('<summary>Tasks that cannot be scored here (1)</summary>');
    expect(text).toContain('| never | chrome | metric guess is not supported |');
    expect(text).toContain('### Lost against the baseline\n\n| task | before | now |');
    // The error is one row of its table, however many lines it has.
    expect(text).toMatch(/^\| errored \| vlc \| a\\\|b \\<b\\>.* second \|$/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there.
    expect(text).not.toMatch(/[\u0000-\u0008\u001b]/);
  });
});

describe('jsonReport', () => {
  it('holds the whole', () => {
    const report = JSON.parse(jsonReport(exampleReport()));
    expect(report).toMatchObject({ at: '1970-01-01T00:00:00.000Z', summary: { success_rate: 0.75 } });
    expect(report.tasks.find((task: { task_id: string }) => task.task_id === 'errored').error).toBe(EVIL);
    expect(report.domains.at(-1)).toMatchObject({ domain: 'all', tasks: 4, errored: 1, unsupported: 1 });
    expect(report.gates.map(({ passed }: { passed: boolean }) => passed)).toEqual([true, false, true]);
  });
});
