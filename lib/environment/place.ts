import { type Env, SCHEMA_VERSION } from '../stream/records.ts';
import type { Driver, Environment } from './environment.ts';

/** One place for a desktop: the desktop that stands there now, and how its predecessors fared. */
export class Place {
  environment: Environment | null = null;
  retired = false;
  readonly #driver: Driver;
  readonly #index: number;
  #replacements = -1;
  #bootMs = 0;
  /** Of each failure since the last success: the task that may be to blame, null where none is. */
  #failures: (string | null)[] = [];

  constructor(driver: Driver, index: number) {
    this.#driver = driver;
    this.#index = index;
  }

  get id(): string {
    const name = `${this.#driver.name}-${this.#index}`;
    return this.#replacements > 0 ? `${name}r${this.#replacements}` : name;
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#replacements += 1;
    const begun = performance.now();
    this.environment = await this.#driver.start(this.#index, this.id, signal);
    this.#bootMs = performance.now() - begun;
  }

  /** The desktop that stands here now as a record; null where there is none. */
  record(state: Env['state']): Env | null {
    if (!this.environment) return null;
    const { id: env_id, driver, guest, serverUrl } = this.environment;
    const where = { server_url: serverUrl ?? null, screen: { ...guest.screen } };
    return { type: 'env', v: SCHEMA_VERSION, env_id, driver, state, ...where, boot_ms: this.#bootMs };
  }

  /** Forgets the desktop; the caller closes it. */
  replace(): void {
    this.environment = null;
  }

  succeeded(): void {
    this.#failures = [];
  }

  /** Counts a failure; retires the place after `limit` in a row, unless one task can explain them all. */
  failed(task: string | undefined, limit: number): void {
    this.#failures.push(task ?? null);
    const blamed = new Set(this.#failures);
    const explained = blamed.size === 1 && !blamed.has(null);
    this.retired = this.#failures.length >= limit && !explained;
  }

  async close(): Promise<void> {
    const { environment } = this;
    this.environment = null;
    await environment?.close();
  }
}
