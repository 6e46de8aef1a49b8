import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { prometheusText } from '../stream/prometheus.ts';
import { metricSchema } from '../stream/records.ts';
import { prometheusMetrics } from './exposition.ts';
import { metricRecords, ROLLOUT_METRICS } from './metrics.ts';
import type { SessionStatus } from './status.ts';
import { Tally } from './tally.ts';

/** Two desktops and two workers, after 60 s; the second worker is down. */
function statusOf(parts: Partial<SessionStatus> = {}): SessionStatus {
  const tally = new Tally();
  tally.add({ outcome: 'success', reward: 1, steps: [] });
  tally.add({ outcome: 'failure', reward: 0, steps: [] });
  tally.add({ outcome: 'env_error', reward: null, steps: [] });
  return {
    ...{ run_id: 'r', policy: 'p', version: 7, syncs: 3, tally },
    usage: {
      ...{ seconds: 60, desktop_held_s: 120, desktop_busy_s: 90, worker_held_s: 100, worker_busy_s: 25 },
      ...{ trajectories: 3, actions: 30 },
    },
    desktops: [
      { id: 'd-0', held_s: 60, busy_s: 60 },
      { id: 'd-1', held_s: 60, busy_s: 30 },
    ],
    ...{ running: 2, desktopFailures: 1, waiting: 4, under_way: 2 },
    desktopCounts: { booted: 3, replaced: 1, retired: 0, failures: { boot: 0, setup: 0, rollout: 1, idle: 0 } },
    workers: [
      { id: 'w-0', held_s: 60, busy_s: 15, state: 'serving', version: 7, inFlight: 2, foreign: 0 },
      { id: 'w-1', held_s: 40, busy_s: 10, state: 'out', version: 6, inFlight: 0, foreign: 0 },
    ],
    ...parts,
  };
}

describe('metricRecords', () => {
  it.each(Object.entries(ROLLOUT_METRICS))('%s is in docs/metrics.md as it is defined here', (name, [unit, text]) => {
    const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    expect(page).toContain(`| \`${name}\` | ${unit} | ${text} |`);
  });

  it('gives shares and rates since the beginning, of all and of each', () => {
    const records = metricRecords(statusOf(), null).map((record) => metricSchema.parse(record));
    const values = records.map(({ name, env_id, worker_id, reason, value }) => [
      name,
      env_id ?? worker_id ?? reason ?? '',
      value,
    ]);
    expect(values).toEqual([
      ['rollout/env_utilisation', '', 0.75],
      ['rollout/env_utilisation/by_desktop', 'd-0', 1],
      ['rollout/env_utilisation/by_desktop', 'd-1', 0.5],
      ['rollout/worker_utilisation', '', 0.25],
      ['rollout/worker_utilisation/by_worker', 'w-0', 0.25],
      ['rollout/worker_utilisation/by_worker', 'w-1', 0.25],
      ['rollout/actions_per_minute', '', 30],
      ['rollout/trajectories_per_minute', '', 3],
      ['rollout/trajectories', '', 3],
      ['rollout/errors', '', 1],
      ['rollout/success', '', 0.5],
      ['rollout/desktop_failures', '', 1],
      ['rollout/desktop_failures/by_reason', 'boot', 0],
      ['rollout/desktop_failures/by_reason', 'setup', 0],
      ['rollout/desktop_failures/by_reason', 'rollout', 1],
      ['rollout/desktop_failures/by_reason', 'idle', 0],
      ['rollout/desktops_booted', '', 3],
      ['rollout/desktops_replaced', '', 1],
      ['rollout/requests_running', '', 2],
      ['rollout/requests_waiting', '', 4],
      ['rollout/version', '', 7],
    ]);
    expect(records[0]).toMatchObject({ type: 'metric', unit: 'share', run_id: 'r', elapsed_s: 60 });
  });

  it('gives those between two looks, and nothing of a desktop that is gone', () => {
    const before = statusOf();
    const usage = { ...before.usage, seconds: 90, desktop_held_s: 180, desktop_busy_s: 105, actions: 90 };
    const desktops = [
      { id: 'd-0', held_s: 60, busy_s: 60 },
      { id: 'd-1', held_s: 90, busy_s: 33 },
      { id: 'd-0r1', held_s: 10, busy_s: 5 },
    ];
    const records = metricRecords(statusOf({ usage, desktops }), before);
    const of = (name: string) => records.filter((record) => record.name === name).map(({ value }) => value);
    expect(of('rollout/env_utilisation')).toEqual([0.25]);
    expect(of('rollout/env_utilisation/by_desktop')).toEqual([0.1, 0.5]);
    expect(of('rollout/actions_per_minute')).toEqual([120]);
    // The worker that is down was not held meanwhile: nothing is known of it.
    expect(of('rollout/worker_utilisation/by_worker')).toEqual([null, null]);
  });
});

describe('prometheusMetrics', () => {
  const lines = prometheusText(prometheusMetrics(statusOf())).split('\n');

  it.each([
    'dart_rollout_run_info{run_id="r",policy="p"} 1',
    'dart_rollout_uptime_seconds 60',
    'dart_rollout_trajectories_total{outcome="success"} 1',
    'dart_rollout_trajectories_total{outcome="truncated"} 0',
    'dart_rollout_trajectories_total{outcome="env_error"} 1',
    'dart_rollout_scored_total 2',
    'dart_rollout_rewards_total 1',
    'dart_rollout_success_ratio 0.5',
    'dart_rollout_actions_total 30',
    'dart_rollout_env_utilisation_ratio 0.75',
    'dart_rollout_worker_utilisation_ratio 0.25',
    'dart_rollout_desktops 2',
    'dart_rollout_desktop_failures_total 1',
    'dart_rollout_desktop_failures_by_reason_total{reason="rollout"} 1',
    'dart_rollout_desktops_booted_total 3',
    'dart_rollout_desktops_replaced_total 1',
    'dart_rollout_desktop_busy_seconds_total{env_id="d-1"} 30',
    'dart_rollout_desktop_held_seconds_total{env_id="d-1"} 60',
    'dart_rollout_worker_busy_seconds_total{worker="w-0"} 15',
    'dart_rollout_requests_running 2',
    'dart_rollout_requests_waiting 4',
    'dart_rollout_worker_up{worker="w-0"} 1',
    'dart_rollout_worker_up{worker="w-1"} 0',
    'dart_rollout_worker_version{worker="w-1"} 6',
    'dart_rollout_model_version 7',
    'dart_rollout_syncs_total 3',
  ])('says %s', (line) => {
    expect(lines).toContain(line);
  });

  it('leaves out what is not known yet', () => {
    const text = prometheusText(prometheusMetrics(statusOf({ tally: new Tally() })));
    expect(text).toContain('# TYPE dart_rollout_success_ratio gauge\n# HELP');
    expect(text).toContain('dart_rollout_rewards_total 0\n');
  });

  it('is documented metric by metric', () => {
    const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
    for (const { name, type } of prometheusMetrics(statusOf())) expect(page).toContain(`| \`${name}\` | ${type} |`);
  });
});
