import { DartError } from '../../errors.ts';
import type { PolicyReply, PolicyRequest } from '../../policy/policy.ts';
import { unscoredReply } from '../../policy/unscored.ts';
import { delay } from '../../stream/timer.ts';
import type { LoadablePolicy } from '../worker.ts';
import { type Quantile, quantileOf } from './distribution.ts';
import { loadShare, RolloutPlans, shareOf } from './plan.ts';
import { RealTimeServer } from './real_time.ts';
import { slowdownOf } from './server.ts';
import { readWorkload, type Workload } from './workload.ts';

/**
 * A policy that costs what a workload says and thinks nothing: each request takes its time on a server with continuous
 * batching, loading a version takes its time, and an episode ends after the workload's number of steps, with `fail` (a
 * success on the workload's infeasible tasks) or `finished`. For measurements of the system around it.
 */
export class WorkloadPolicy implements LoadablePolicy {
  readonly name = 'workload';
  readonly coordinates = 'absolute';
  version = 0;
  readonly #plans: RolloutPlans;
  readonly #inference: Quantile;
  readonly #load: Quantile;
  /** Milliseconds that stand for one second of the workload. */
  readonly #second: number;
  readonly #server: RealTimeServer;
  readonly #worker: number;

  /** @param scale How many times faster than the workload. */
  constructor(workload: Workload, scale: number, worker = 0) {
    this.#plans = new RolloutPlans(workload);
    this.#inference = quantileOf(workload.latency.inference.distribution);
    this.#load = quantileOf(workload.latency.load.distribution);
    this.#second = 1000 / scale;
    this.#server = new RealTimeServer(slowdownOf(workload.slowdown.table));
    this.#worker = worker;
  }

  async act(request: PolicyRequest): Promise<PolicyReply> {
    const work = this.#inference(shareOf(`request/${request.seed}`)) * this.#second;
    await this.#server.work(work, request.signal);
    const { steps, success } = this.#planOf(request);
    const last = request.stepIndex + 1 >= steps;
    const reply = unscoredReply({ type: last ? (success ? 'fail' : 'finished') : 'wait' });
    return { ...reply, modelVersion: this.version };
  }

  async load(version: number): Promise<void> {
    await delay(this.#load(loadShare(0, version, this.#worker)) * this.#second);
    this.version = version;
  }

  async close(): Promise<void> {}

  /** An episode is called `group/rollout/desktop`. */
  #planOf({ episode = '' }: PolicyRequest) {
    const [, group = '', rollout = '0'] = /^(.*)\/(\d+)\/[^/]*$/.exec(episode) ?? [];
    return this.#plans.of(group, Number(rollout));
  }
}

/**
 * `FILE[,scale=N]` as so many workers; N times faster than the workload, as it is without.
 * @throws DartError on a scale that is no number above 0, and on a file that is no workload.
 */
export async function openWorkloadPolicies(rest: string, workers: number): Promise<WorkloadPolicy[]> {
  const [, path = '', given = '1'] = /^(.*?)(?:,scale=([^,]*))?$/.exec(rest) ?? [];
  const scale = Number(given);
  if (path === '' || !Number.isFinite(scale) || scale <= 0) {
    const hint = 'workload:fixtures/workloads/dart.json,scale=60';
    throw new DartError(`cannot read the policy "workload:${rest}"`, { where: '--policy', hint });
  }
  const workload = await readWorkload(path);
  return Array.from({ length: workers }, (_, worker) => new WorkloadPolicy(workload, scale, worker));
}
