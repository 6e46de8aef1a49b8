import type { Result } from '../stream/records.ts';
import { visible } from '../stream/visible.ts';
import { type EvaluationReport, outcomeOf, stateOf } from './document.ts';
import type { GateResult } from './gates.ts';

/**
 * The report as JUnit XML, in the strict form of the schema that most readers are made for (elements and attributes that it
 * wants, in its order, none that it does not know): a suite a domain, a case a task; solved tasks pass, others fail, errors
 * are errors, and tasks that cannot be scored here are skipped. The gates are a suite of their own.
 */
export function junitReport(report: EvaluationReport): string {
  const domains = [...new Set(report.results.map(({ domain }) => domain))];
  const suites = domains.map((domain) => {
    const results = report.results.filter((result) => result.domain === domain);
    return { name: domain, cases: results.map(caseOf) };
  });
  const gates = report.gates.map(gateCase);
  const all = gates.length > 0 ? [...suites, { name: 'gates', cases: gates }] : suites;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...all.map((suite, id) => suiteXml(suite.name, suite.cases, id, report)),
    '</testsuites>',
    '',
  ].join('\n');
}

interface Case {
  name: string;
  classname: string;
  seconds: number;
  state: 'passed' | 'failure' | 'error' | 'skipped';
  type: string;
  message: string;
}

function caseOf(result: Result): Case {
  const states = { solved: 'passed', failed: 'failure', errored: 'error', unsupported: 'skipped' } as const;
  const state = stateOf(result);
  const outcomes = Object.keys((result.outcomes ?? {}) as Record<string, number>);
  return {
    name: result.task_id,
    classname: result.domain,
    seconds: Number(result.mean_seconds ?? 0) * result.rollouts,
    state: states[state],
    type: state === 'errored' ? (outcomes[0] ?? 'error') : state,
    message: outcomeOf(result),
  };
}

function gateCase({ name, passed, message }: GateResult): Case {
  return { name, classname: 'gates', seconds: 0, state: passed ? 'passed' : 'failure', type: name, message };
}

function suiteXml(name: string, cases: readonly Case[], id: number, { title, summary, at }: EvaluationReport): string {
  const count = (state: Case['state']) => cases.filter((item) => item.state === state).length;
  const seconds = cases.reduce((sum, item) => sum + item.seconds, 0);
  const properties = ['policy', 'model_version', 'protocol', 'max_steps', 'temperature', 'repeats']
    .filter((field) => summary[field] !== undefined && summary[field] !== null)
    .map((field) => `      <property name="${field}" value="${attribute(String(summary[field]))}"/>`);
  const attributes = {
    ...{ name, package: title, id, tests: cases.length, failures: count('failure'), errors: count('error') },
    ...{ skipped: count('skipped'), time: seconds.toFixed(3), timestamp: at.toISOString().slice(0, 19) },
    // Which machine it was is nobody's business, and the schema wants one.
    hostname: 'localhost',
  };
  return [
    `  <testsuite ${attributesXml(attributes)}>`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...cases.map(caseXml),
    '    <system-out/>',
    '    <system-err/>',
    '  </testsuite>',
  ].join('\n');
}

function caseXml({ name, classname, seconds, state, type, message }: Case): string {
  const open = `    <testcase ${attributesXml({ name, classname, time: seconds.toFixed(3) })}`;
  if (state === 'passed') return `${open}/>`;
  if (state === 'skipped') {
    return `${open}>\n      <skipped ${attributesXml({ message: firstLine(message) })}/>\n    </testcase>`;
  }
  const body = `<${state} ${attributesXml({ type, message: firstLine(message) })}>${text(message)}</${state}>`;
  return `${open}>\n      ${body}\n    </testcase>`;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.slice(0, 300);
}

function attributesXml(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}="${attribute(String(value))}"`)
    .join(' ');
}

/** XML knows no control characters, however they are written: they become visible stand-ins. */
function text(value: string): string {
  return visible(value)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]!);
}

function attribute(value: string): string {
  return text(value).replace(/"/g, '&quot;').replace(/\n/g, '&#10;').replace(/\t/g, '&#9;');
}
