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

  /** Prometheus text, version 0.0.4. */
  text(pool: Pick<WorkerPool, 'workers' | 'waiting'>): string {
    const { workers } = pool;
    const running = workers.reduce((sum, worker) => sum + worker.inFlight, 0);
    const of = (value: (worker: (typeof workers)[number]) => number) =>
      workers.map((worker) => [`worker="${escaped(worker.id)}"`, value(worker)] as const);
    return [
      ...family('requests_running', 'gauge', 'Requests that workers have.', [['', running]]),
      ...family('requests_waiting', 'gauge', 'Requests that no worker could take yet.', [['', pool.waiting]]),
      ...family('requests_total', 'counter', 'Requests by what became of them.', [
        ['result="answered"', this.answered],
        ['result="refused"', this.refused],
        ['result="failed"', this.failed],
        ['result="abandoned"', this.abandoned],
      ]),
      ...family('reply_tokens_total', 'counter', 'Tokens of replies.', [['', this.tokens]]),
      ...family('request_seconds_total', 'counter', 'Time that answered requests took.', [['', this.#seconds]]),
      ...family(
        'worker_up',
        'gauge',
        'Whether a worker takes requests.',
        of(({ state }) => (state === 'serving' ? 1 : 0)),
      ),
      ...family(
        'worker_requests',
        'gauge',
        'Requests that a worker has.',
        of(({ inFlight }) => inFlight),
      ),
      ...family(
        'worker_version',
        'gauge',
        'Version of its weights.',
        of(({ version }) => version),
      ),
      '',
    ].join('\n');
  }
}

function family(name: string, kind: string, help: string, samples: readonly (readonly [string, number])[]): string[] {
  const full = `dart_rollout_${name}`;
  const lines = samples.map(([labels, value]) => `${full}${labels === '' ? '' : `{${labels}}`} ${value}`);
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${kind}`, ...lines];
}

function escaped(label: string): string {
  return label.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
