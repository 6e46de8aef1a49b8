import type { Environment } from '../environment/environment.ts';
import { lookAt } from '../environment/health.ts';
import { messageOf } from '../errors.ts';
import type { Action, Frame } from '../guest/guest.ts';
import { MissingAsset } from '../osworld/assets.ts';
import type { AssetCache } from '../osworld/assets_cache.ts';
import type { Bridge } from '../osworld/bridge/kinds.ts';
import type { Fidelity } from '../osworld/context.ts';
import { evaluateTask } from '../osworld/evaluate.ts';
import { setupTask } from '../osworld/setup.ts';
import type { PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { endsEpisode } from '../stream/action.ts';
import type { Outcome, Sampling, Step } from '../stream/records.ts';
import { delay } from '../stream/timer.ts';
import { readReply } from './read_reply.ts';
import type { WorkItem } from './scheduler.ts';
import { replySeed } from './seeds.ts';
import { stepRecord } from './step_record.ts';
import { NoPolicyLeft, type WorkerPool } from './worker_pool.ts';

/** How many of the newest screens and earlier replies a policy is shown (design §6). */
const MAX_SCREENSHOTS = 5;
const MAX_HISTORY = 35;
/** A step that took longer has waited for something, a timer or a socket. */
const AT_ONCE_MS = 20;
/** A reward above this is a success; OSWorld's scores are nearly all 0 or 1 (ARPO's label for "desirable"). */
const SUCCESS = 0.5;

export interface EpisodeOptions {
  policy: Pick<WorkerPool, 'act' | 'coordinates'>;
  /** Keeps a screenshot and gives its sha256. */
  keep: (png: Uint8Array) => string;
  sampling: Sampling;
  /** With the group's seed and the rollout's index it gives the seed of each reply. */
  seed: number;
  /** A reply that cannot be read: nothing is done and the policy sees the screen again, or the episode ends with FAIL. */
  onParseError: 'observe' | 'fail';
  /** At the step limit, count the last action as FAIL (not done by the Hard protocol, and not by default). */
  failAtLimit: boolean;
  /** Folder of the files that tasks download; null: none. */
  assetsDir?: string | null;
  /** Where files come from that the folder does not have; none: they are missing. */
  assetCache?: AssetCache;
  /** An installed OSWorld, for what only its own code can do. */
  bridge?: Bridge;
  /** Whether OSWorld's known mistakes are kept in scoring; `verified` when missing. */
  fidelity?: Fidelity;
  /** For tests. */
  setup?: typeof setupTask;
  evaluate?: typeof evaluateTask;
}

export interface EpisodeEnd {
  steps: Step[];
  outcome: Outcome;
  /** Null whenever the outcome is an error. */
  reward: number | null;
  error?: string;
  /** Set when the desktop failed; `duringSetup` where the task's own set-up did, and the desktop still answers. */
  desktop?: { error: unknown; duringSetup: boolean };
}

/** What goes wrong on the desktop's side, told apart from everything else by this class. */
class DesktopFailure extends Error {
  readonly duringSetup: boolean;
  constructor(cause: unknown, duringSetup: boolean) {
    super(messageOf(cause), { cause });
    this.duringSetup = duringSetup;
  }
}

/**
 * One episode on one desktop: reset, set up, look and act until the policy ends it or the limit is reached, evaluate.
 * Whatever fails ends it with an outcome that says which part it was, and no reward.
 * @throws the signal's reason when aborted (an unfinished episode is never scored), NoPolicyLeft, and errors of `keep`.
 */
export async function runEpisode(
  item: WorkItem,
  env: Environment,
  options: EpisodeOptions,
  signal: AbortSignal,
): Promise<EpisodeEnd> {
  const episode = new Episode(item, env, options, signal);
  try {
    await episode.prepare();
    await episode.play();
    return await episode.score();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof DesktopFailure)) throw error;
    // Another desktop would not have the file either.
    if (error.cause instanceof MissingAsset)
      return { steps: episode.steps, outcome: 'evaluator_error', reward: null, error: error.message };
    const desktop = { error: error.cause, duringSetup: error.duringSetup };
    return { steps: episode.steps, outcome: 'env_error', reward: null, error: error.message, desktop };
  }
}

class Episode {
  readonly steps: Step[] = [];
  readonly #item: WorkItem;
  readonly #env: Environment;
  readonly #options: EpisodeOptions;
  readonly #signal: AbortSignal;
  readonly #name: string;
  readonly #frames: Frame[] = [];
  readonly #history: string[] = [];
  readonly #files = new Map<string, Uint8Array>();
  #lastAction: Action | null = null;
  #ended = false;
  #policyError: string | null = null;

  constructor(item: WorkItem, env: Environment, options: EpisodeOptions, signal: AbortSignal) {
    this.#item = item;
    this.#env = env;
    this.#options = options;
    this.#signal = signal;
    this.#name = `${item.group.group_id}/${item.rolloutIndex}/${env.id}`;
  }

  async prepare(): Promise<void> {
    const env = this.#env;
    await this.#onDesktop(() => env.reset(this.#item.group.seed, this.#signal));
    await this.#setUp();
    await this.#wait(env.waits.afterResetMs);
  }

  async play(): Promise<void> {
    const { maxSteps } = this.#item.group;
    while (!this.#ended && this.steps.length < maxSteps) {
      const began = performance.now();
      await this.#step();
      // Where desktop and policy answer at once, signals and timers would otherwise never get their turn.
      if (performance.now() - began < AT_ONCE_MS) await new Promise((resolve) => setImmediate(resolve));
    }
    if (!this.#ended && this.#options.failAtLimit) this.#lastAction = { type: 'fail', reason: 'the step limit' };
  }

  async score(): Promise<EpisodeEnd> {
    const { steps } = this;
    if (this.#policyError !== null) return { steps, outcome: 'policy_error', reward: null, error: this.#policyError };
    await this.#wait(this.#env.waits.beforeEvaluateMs);
    const evaluate = this.#options.evaluate ?? evaluateTask;
    let reward: number;
    try {
      const options = { ...this.#taskOptions(), lastAction: this.#lastAction };
      reward = await evaluate(this.#item.group.task, this.#env.guest, options);
    } catch (error) {
      this.#signal.throwIfAborted();
      await this.#stillThere();
      return { steps, outcome: 'evaluator_error', reward: null, error: messageOf(error) };
    }
    if (reward > SUCCESS) return { steps, outcome: 'success', reward };
    await this.#stillThere();
    return { steps, outcome: this.#ended ? 'failure' : 'truncated', reward };
  }

  /** What a dead desktop does not answer may look like work that was not done: its rollout failed, not the policy. */
  #stillThere(): Promise<void> {
    return this.#onDesktop(() => lookAt(this.#env));
  }

  /** A set-up that fails on a desktop which answers afterwards may fail on every other one: a program is not there. */
  async #setUp(): Promise<void> {
    const setup = this.#options.setup ?? setupTask;
    try {
      await setup(this.#item.group.task, this.#env.guest, this.#taskOptions());
    } catch (error) {
      this.#signal.throwIfAborted();
      const answers = await lookAt(this.#env).then(
        () => true,
        () => false,
      );
      throw new DesktopFailure(error, answers);
    }
  }

  async #step(): Promise<void> {
    const looked = performance.now();
    const frame = await this.#onDesktop(() => this.#env.guest.screenshot());
    const seen = performance.now();
    this.#frames.push(frame);
    if (this.#frames.length > MAX_SCREENSHOTS) this.#frames.shift();
    const request = this.#request();
    const reply = await this.#ask(request);
    if (!reply) return;
    const answered = performance.now();
    const { guest } = this.#env;
    const convention = { screen: guest.screen, coordinates: this.#options.policy.coordinates };
    const { actions, parseError } = readReply(reply, convention);
    const screenshot = {
      sha256: this.#options.keep(frame.png()),
      media_type: 'image/png',
      width: frame.width,
      height: frame.height,
    };
    const acting = performance.now();
    await this.#act(actions);
    if (parseError !== null) this.#misread();
    const env_ms = seen - looked + (performance.now() - acting);
    const shown = { history: request.history.length, screenshots: request.frames.length };
    this.steps.push(
      stepRecord({
        index: this.steps.length,
        screenshot,
        reply,
        shown,
        actions,
        parseError,
        policy_ms: answered - seen,
        env_ms,
      }),
    );
    this.#history.push(reply.text);
  }

  /** The policy's reply, or null when it has none: then the episode is over, without a score. */
  async #ask(request: PolicyRequest): Promise<PolicyReply | null> {
    try {
      return await this.#options.policy.act(request);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof NoPolicyLeft) throw error;
      this.#policyError = messageOf(error);
      this.#ended = true;
      return null;
    }
  }

  async #act(actions: readonly Action[]): Promise<void> {
    for (const action of actions) {
      this.#lastAction = action;
      if (endsEpisode(action)) {
        this.#ended = true;
        return;
      }
      await this.#onDesktop(() => this.#env.guest.act(action));
      await this.#wait(this.#env.waits.afterActionMs);
    }
  }

  #misread(): void {
    if (this.#options.onParseError !== 'fail') return;
    this.#lastAction = { type: 'fail', reason: 'the reply could not be read' };
    this.#ended = true;
  }

  #request(): PolicyRequest {
    const { group, rolloutIndex } = this.#item;
    const stepIndex = this.steps.length;
    return {
      task: group.task,
      instruction: group.task.instruction,
      screen: this.#env.guest.screen,
      frames: [...this.#frames],
      history: this.#history.slice(-MAX_HISTORY),
      stepIndex,
      episode: this.#name,
      maxSteps: group.maxSteps,
      sampling: this.#options.sampling,
      seed: replySeed(this.#options.seed, group.seed, rolloutIndex, stepIndex),
      accessibility: () => this.#env.guest.accessibility(),
      signal: this.#signal,
    };
  }

  #taskOptions() {
    const { assetsDir = null, assetCache, bridge, fidelity } = this.#options;
    const { driver, cdpUrl, vlcUrl } = this.#env;
    const protocol = { sleepScale: driver === 'embedded' ? 0 : 1, fidelity };
    return { signal: this.#signal, assetsDir, assetCache, bridge, cdpUrl, vlcUrl, cache: this.#files, protocol };
  }

  async #onDesktop<T>(work: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new DesktopFailure(error, false);
    }
  }

  #wait(ms: number): Promise<void> | undefined {
    return ms > 0 ? delay(ms, this.#signal) : undefined;
  }
}
