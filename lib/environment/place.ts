import type { Env } from '../stream/records.ts';
import { type Driver, type Environment, sameDesktop } from './environment.ts';
import { envRecord } from './record.ts';

/** One place for a desktop: the desktop that stands there now, and how its predecessors fared. */
export class Place {
  environment: Environment | null = null;
  retired = false;
  /** It was reset since it was started: a task may have been at it. */
  used = false;
  /** When it was last known to be well, by `performance.now()`. */
  seenMs = 0;
  /** Starts in a row that have failed. */
  failedStarts = 0;
  readonly #driver: Driver;
  readonly #index: number;
  readonly #name: string;
  #replacements = -1;
  #bootMs = 0;
  /** Since the last success. */
  #failures = 0;
  /** Set-ups that failed though the desktop answers, since the last success. */
  #failedSetups = 0;

  /** @param name Begins its id, in place of the driver's name. */
  constructor(driver: Driver, index: number, name = driver.name) {
    this.#driver = driver;
    this.#index = index;
    this.#name = name;
  }

  get id(): string {
    const name = `${this.#name}-${this.#index}`;
    return this.#replacements > 0 ? `${name}r${this.#replacements}` : name;
  }

  /** True where a desktop stood here before the one that starts now. */
  get again(): boolean {
    return this.#replacements > 0;
  }

  get bootMs(): number {
    return this.#bootMs;
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#replacements += 1;
    const begun = performance.now();
    this.environment = await this.#driver.start(this.#index, this.id, signal);
    this.seenMs = performance.now();
    this.#bootMs = this.seenMs - begun;
    this.used = false;
    this.failedStarts = 0;
  }

  /** The desktop that stands here now as a record; null where there is none. */
  record(state: Env['state']): Env | null {
    return this.environment && envRecord(this.environment, state, { boot_ms: this.#bootMs });
  }

  /** Whether the desktop is to be replaced before somebody else gets it. */
  get spent(): boolean {
    return this.used && this.environment?.disposable === true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#failedSetups = 0;
    this.seenMs = performance.now();
  }

  /** Counts a failure; retires the place after `limit` in a row. */
  failed(limit: number): void {
    this.#failures += 1;
    this.retired ||= this.#failures >= limit;
  }

  /** Counts a set-up that failed on a desktop that answers, apart from the other failures. */
  failedToSetUp(limit: number): void {
    this.#failedSetups += 1;
    this.retired ||= this.#failedSetups >= limit;
  }

  /**
   * The desktop for one holder: a new object for each, so that releasing an old one twice cannot give back somebody
   * else's.
   */
  lease(): Environment {
    const env = this.environment!;
    const reset: Environment['reset'] = (seed, signal) => {
      this.used = true;
      return env.reset(seed, signal);
    };
    return sameDesktop(env, { reset });
  }

  /** Gives the desktop up to the caller, who closes it. */
  vacate(): Environment | null {
    const { environment } = this;
    this.environment = null;
    return environment;
  }
}
