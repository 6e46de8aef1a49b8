import type { AccessibleNode, Frame, Size } from '../guest/guest.ts';
import type { Sampling, Task } from '../stream/records.ts';

/** What a policy is asked at one step of an episode. */
export interface PolicyRequest {
  task: Task;
  instruction: string;
  screen: Size;
  /** The newest screen last; at most `context.screenshots` of them are kept by the runner (design §6: 5). */
  frames: Frame[];
  /** Earlier replies of this episode, oldest first (at most 35). */
  history: string[];
  stepIndex: number;
  /** The same for all steps of one episode and for no other, for policies that remember something between steps. */
  episode?: string;
  maxSteps: number;
  sampling: Sampling;
  /** Seeds this one reply: same request, same seed, same version, same reply. */
  seed: number;
  /** The accessibility tree of the same moment; only fetched when called. */
  accessibility(): Promise<AccessibleNode>;
  signal?: AbortSignal;
}

export interface PolicyReply {
  /** `Thought: … Action: …`, or just `Action: …`. */
  text: string;
  tokenIds: number[];
  /** Log-probability of each token at the sampling temperature; null where unscored. */
  logprobs: (number | null)[];
  /** Exact entropy in nats of each token's distribution, where known. */
  entropies?: (number | null)[];
  finishReason: string;
  /** The version that produced the tokens. */
  modelVersion: number;
  promptTokenIds?: number[];
}

/** How a policy writes coordinates (reference/dart-and-arpo.md §1.5). */
export type Coordinates =
  /** Pixels of the screen. */
  | 'absolute'
  /** UI-TARS 1.0: 0..1000 of each side. */
  | 'relative'
  /** UI-TARS 1.5: pixels of the image after smart-resize (factor 28). */
  | 'smart-resize';

export interface Policy {
  readonly name: string;
  readonly coordinates: Coordinates;
  /** The only size of screen that this policy can read, where there is one. */
  readonly screen?: Size;
  /** Rejects with a DartError where no reply could be had; a partial reply is never returned as a whole one. */
  act(request: PolicyRequest): Promise<PolicyReply>;
  /** Newest version that this policy answers with. */
  readonly version: number;
  close(): Promise<void>;
}
