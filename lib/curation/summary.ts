import { SCHEMA_VERSION, type Summary } from '../stream/records.ts';
import { listCounts, type Tally } from './tally.ts';

/** The last record of the stream. It holds no clock, so that the same input gives the same bytes. */
export function curationSummary(tally: Tally, skippedRecords: number): Summary {
  return {
    type: 'summary',
    v: SCHEMA_VERSION,
    command: 'dart-curate',
    trajectories: tally.trajectories,
    rejected_trajectories: tally.rejectedTrajectories,
    groups: tally.groups,
    rejected_groups: tally.rejectedGroups,
    samples: tally.samples,
    groups_with_injection: tally.injected,
    unscored_tokens: tally.unscoredTokens,
    steps_without_logprobs: tally.stepsWithoutLogprobs,
    steps_with_sampler_bias: tally.stepsWithSamplerBias,
    skipped_records: skippedRecords,
  };
}

/** One line for people: what came of it, and why no more. */
export function describeTally(tally: Tally): string {
  const parts = [
    `${tally.trajectories} trajectories`,
    `${tally.groups} groups`,
    `${tally.samples} samples`,
    tally.injected > 0 ? `${tally.injected} groups with a stored success` : '',
    reasons('groups left out', tally.rejectedGroups),
    reasons('trajectories left out', tally.rejectedTrajectories),
  ];
  return parts.filter(Boolean).join(', ');
}

function reasons(what: string, counts: Readonly<Record<string, number>>): string {
  const list = listCounts(counts);
  return list === '' ? '' : `${what}: ${list}`;
}
