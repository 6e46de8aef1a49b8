import { DartError } from '../errors.ts';
import type { AccessibleNode, Action, Size } from '../guest/guest.ts';
import { Random } from '../stream/random.ts';
import type { Task } from '../stream/records.ts';
import { EpisodeMemory } from './episodes.ts';
import type { Policy, PolicyReply, PolicyRequest } from './policy.ts';
import { randomAction } from './random_action.ts';
import { unscoredReply } from './unscored.ts';

/** A task's expert as data, and how one of its steps becomes an action on a screen (osworld/expert.ts has one). */
export interface ExpertSource<Step = unknown> {
  /** Null for a task without an expert. */
  expertOf(task: Task): readonly Step[] | null;
  /** Null when the widget that the step names is not on the screen. */
  expertAction(step: Step, tree: AccessibleNode, screen: Size): Action | null;
  /** Whether the step names a widget, so that its presence on the screen says that it can be done. */
  namesWidget(step: Step): boolean;
}

/** After so many recoveries without getting further the expert says that the task cannot be done. */
const MAX_RECOVERIES = 4;

interface Progress {
  /** The expert's next step. */
  next: number;
  /** The furthest step that was ever reached; getting further clears `recoveries`. */
  furthest: number;
  recoveries: number;
  /** A random action was taken. */
  strayed: boolean;
}

/**
 * The task's expert. With `noise` p, each reply is with probability p a random action instead, after which the expert
 * goes on where it can: while its next widget is missing it closes what is open and goes back to the latest step whose
 * widget is there. Replies carry no tokens.
 */
export class ScriptPolicy implements Policy {
  readonly name: string;
  readonly coordinates = 'absolute';
  readonly version = 0;
  readonly #source: ExpertSource;
  readonly #noise: number;
  readonly #tell: (line: string) => void;
  /** Many rollouts of a task end alike: each is told of once. */
  readonly #told = new Set<string>();
  readonly #progress = new EpisodeMemory<Progress>();

  /** @param options.tell Told where an expert gives up of itself: without it a task that cannot be done looks like one that failed. */
  constructor(source: ExpertSource, options: { noise?: number; tell?: (line: string) => void } = {}) {
    this.#source = source;
    this.#tell = options.tell ?? (() => {});
    this.#noise = options.noise ?? 0;
    this.name = this.#noise === 0 ? 'script' : `script:noise=${this.#noise}`;
  }

  async act(request: PolicyRequest): Promise<PolicyReply> {
    const steps = this.#source.expertOf(request.task);
    if (steps === null) {
      throw new DartError('this task has no expert script', {
        where: request.task.task_id,
        hint: 'give the task an "expert" field, or use another policy',
      });
    }
    const progress = this.#progress.of(request.episode ?? request.task.task_id, request.stepIndex, () => ({
      next: 0,
      furthest: 0,
      recoveries: 0,
      strayed: false,
    }));
    const tree = await request.accessibility();
    const random = new Random(request.seed);
    if (this.#noise > 0 && random.next() < this.#noise) {
      progress.strayed = true;
      return unscoredReply(randomAction(random, request.screen, tree));
    }
    const action = this.#expert(steps, progress, tree, request.screen);
    // That random actions lead to where the expert knows no way is what they are for.
    if (action.type === 'fail' && progress.recoveries > MAX_RECOVERIES && !progress.strayed) {
      const step = JSON.stringify(steps[progress.next]);
      const line = `${request.task.task_id}: the expert finds no widget for its step ${progress.next + 1}: ${step}`;
      if (!this.#told.has(line)) this.#tell(line);
      this.#told.add(line);
    }
    return unscoredReply(action);
  }

  async close(): Promise<void> {}

  #expert(steps: readonly unknown[], progress: Progress, tree: AccessibleNode, screen: Size): Action {
    // An expert whose last step does not end the episode has done its part.
    if (progress.next >= steps.length) return { type: 'finished' };
    const action = this.#source.expertAction(steps[progress.next], tree, screen);
    if (action === null) return this.#recover(steps, progress, tree, screen);
    progress.next += 1;
    if (progress.next > progress.furthest) {
      progress.furthest = progress.next;
      progress.recoveries = 0;
    }
    return action;
  }

  /** In turn: close whatever hides the widget, or go back to the latest step whose own widget is there. */
  #recover(steps: readonly unknown[], progress: Progress, tree: AccessibleNode, screen: Size): Action {
    progress.recoveries += 1;
    if (progress.recoveries > MAX_RECOVERIES) {
      return { type: 'fail', reason: `the widget of step ${progress.next + 1} is missing` };
    }
    const goBack = progress.recoveries % 2 === 0;
    for (let index = progress.next - 1; goBack && index >= 0; index--) {
      if (!this.#source.namesWidget(steps[index])) continue;
      const action = this.#source.expertAction(steps[index], tree, screen);
      if (action === null) continue;
      progress.next = index + 1;
      return action;
    }
    return { type: 'hotkey', keys: ['esc'] };
  }
}
