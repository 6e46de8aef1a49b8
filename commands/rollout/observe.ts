import { type MetricsServer, serveMetrics } from '../../lib/cli/metrics_server.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { prometheusMetrics } from '../../lib/rollout/exposition.ts';
import { metricRecords } from '../../lib/rollout/metrics.ts';
import type { SessionNotes } from '../../lib/rollout/session.ts';
import type { SessionStatus } from '../../lib/rollout/status.ts';
import { prometheusText } from '../../lib/stream/prometheus.ts';
import { type AnyRecord, SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { RecentUsage, standing } from './standing.ts';

const LINE_EVERY_MS = 10_000;

export interface ObservationOptions {
  runId: string;
  /** How often there are records of what is used; null: never. */
  usageMs: number | null;
  write: (record: AnyRecord) => Promise<void>;
}

/** What a run tells while it goes on: progress for people, records into the stream, metrics for Prometheus. */
export class Observation {
  readonly #context: CommandContext;
  readonly #options: ObservationOptions;
  readonly #recent = new RecentUsage();
  #progress: Progress | null = null;
  #server: MetricsServer | null = null;
  /** How to look at the run; before it has begun there is nothing to see. */
  #read: (() => SessionStatus) | null = null;
  #before: SessionStatus | null = null;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(context: CommandContext, options: ObservationOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** @throws DartError where `--metrics` cannot be served: before anything else is opened. */
  static async open(context: CommandContext, options: ObservationOptions): Promise<Observation> {
    const observation = new Observation(context, options);
    observation.#server = await serveMetrics(context, () => observation.#text());
    return observation;
  }

  /**
   * Begins to show progress.
   * @param total Rollouts that the run is to have; null where it goes on until it is told to stop.
   */
  begin(total: number | null): Pick<SessionNotes, 'progress' | 'usage' | 'status'> {
    const { usageMs, runId } = this.#options;
    const progress = new Progress(this.#context, `run ${runId}`, { lineEveryMs: LINE_EVERY_MS });
    this.#progress = progress;
    const text = () => (this.#read ? standing(this.#read(), this.#recent, total) : 'opening');
    return {
      progress: () => progress.update(text),
      usage: usageMs === null ? undefined : { everyMs: usageMs, take: () => this.#record() },
      status: (read) => {
        this.#read = read;
        progress.watch(text);
      },
    };
  }

  /** How many rollouts are under way. */
  get underWay(): number {
    return this.#read?.().under_way ?? 0;
  }

  /** The last word; resolves when all records are written. */
  async end(words: string): Promise<void> {
    this.#progress?.done(words);
    await this.#writing;
  }

  /** The metrics as they are now. */
  #text(): string {
    return this.#read ? prometheusText(prometheusMetrics(this.#read())) : '';
  }

  async close(): Promise<void> {
    this.#progress?.stop();
    await this.#server?.close();
  }

  #record(): void {
    const now = this.#read?.();
    if (!now) return;
    const event = { type: 'event', v: SCHEMA_VERSION, event: 'usage', run_id: this.#options.runId, ...now.usage };
    const records: AnyRecord[] = [event, ...metricRecords(now, this.#before)];
    this.#before = now;
    // An output that fails is told where trajectories are written.
    for (const record of records) {
      this.#writing = this.#writing.then(() => this.#options.write(record)).catch(() => {});
    }
  }
}
