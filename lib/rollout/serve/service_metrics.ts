import { byLabel, prometheusText, single } from '../../stream/prometheus.ts';
import { workerMetrics } from '../exposition.ts';
import type { WorkerPool } from '../worker_pool.ts';

/** What a service has done, for `/metrics` and the summary. */
export class ServiceMetrics {
  answered = 0;
  refused = 0;
  failed = 0;
  abandoned = 0;
  tokens = 0;
  #seconds = 0;

  /** One request that got its reply. */
  took(tokens: number, ms: number): void {
    this.answered += 1;
    this.tokens += tokens;
    this.#seconds += ms / 1000;
  }

  /** Prometheus text; see docs/observability.md. */
  text(pool: Pick<WorkerPool, 'workers' | 'waiting'>): string {
    const { answered, refused, failed, abandoned } = this;
    const results = Object.entries({ answered, refused, failed, abandoned });
    return prometheusText([
      ...workerMetrics(pool),
      byLabel('dart_rollout_requests_total', 'counter', 'Requests by what became of them.', 'result', results),
      single('dart_rollout_reply_tokens_total', 'counter', 'Tokens of replies.', this.tokens),
      single('dart_rollout_request_seconds_total', 'counter', 'Time that answered requests took.', this.#seconds),
    ]);
  }
}
