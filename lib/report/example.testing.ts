import { compareResults } from './compare.ts';
import { type EvaluationReport, reportOf } from './document.ts';
import { Evaluation } from './evaluation.ts';
import { baselineGate, scoredGate, thresholdGate } from './gates.ts';
import { stepOf, trajectoryOf } from './trajectory/example.testing.ts';

/** What XML, Markdown and HTML must survive: markup, control characters, half a surrogate pair, a character that is none. */
export const EVIL = 'a|b <b>&"\'</failure>]]> \u0000\u0007\u001b[31m \ud800 \uffff `x`\nsecond';

/** Four tasks: solved, failed, errored with an evil message, unsupported. */
export function evaluationOf(): Evaluation {
  const evaluation = new Evaluation();
  const add = (task_id: string, parts: object, index = 0) =>
    evaluation.add(trajectoryOf([stepOf(), stepOf()], { task_id, trajectory_id: `r/${task_id}/${index}`, ...parts }));
  add('solved', {});
  add('failed', { outcome: 'failure', reward: 0, domain: 'vlc' });
  add('failed', { domain: 'vlc' }, 1);
  add('errored', { outcome: 'evaluator_error', reward: null, error: EVIL, domain: 'vlc' });
  evaluation.addUnsupported({ task_id: 'never', domain: 'chrome' }, 'metric guess is not supported');
  return evaluation;
}

/** The report of `evaluationOf`, with a gate that it passes, one that it fails, and a baseline. */
export function exampleReport(): EvaluationReport {
  const evaluation = evaluationOf();
  const summary = { ...evaluation.summary('dart-eval'), policy: `onnx:${EVIL}`, protocol: 'verified', max_steps: 15 };
  const before = evaluation.results().map((result) => ({ ...result, score: result.score === null ? null : 1 }));
  const comparison = compareResults(before, evaluation.results());
  const gates = [
    scoredGate(summary),
    thresholdGate(summary, 'errors-as-zero', 0.5),
    baselineGate(comparison, 0.02, 'before.ndjson'),
  ];
  return reportOf(evaluation, { title: `Evaluation of ${EVIL}`, summary, gates, comparison, at: new Date(0) });
}
