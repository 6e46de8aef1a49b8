import type { Screenshot, Step } from '../../stream/records.ts';
import { type Imported, note } from './importer.ts';

/** What a prompt of UI-TARS holds at most (design §6). */
const MAX_HISTORY = 35;
const MAX_SCREENSHOTS = 5;

/** One step as its source tells it. */
export interface EpisodeStep {
  /** The reply; null where it is not known. */
  text: string | null;
  actions: Step['actions'];
  parseError: string | null;
  /** Or why there is none: then the step cannot be learned from, and only its reply stays, as history. */
  screenshot: Screenshot | { file: string | null; refused: string };
}

/** What of an episode can be learned from, and which of its steps cannot. */
export interface UsableSteps {
  steps: Step[];
  /** Indices of the steps without screenshot. */
  missing: number[];
}

/**
 * The steps that have a screenshot, with an event for each that has none. Its reply was given all the same: it stays in
 * the history of later steps, as one of their `prompt.unseen_replies`.
 */
export function* usableSteps(episode: {
  where: string;
  taskId: string;
  steps: readonly EpisodeStep[];
}): Generator<Imported, UsableSteps, void> {
  const steps: Step[] = [];
  const missing: number[] = [];
  let unseen: (string | null)[] = [];
  // Replies up to here, back to the last that is not known; and those that each have their screen, back from here.
  let known = 0;
  let shown = 0;
  for (const [index, { screenshot, text, actions, parseError }] of episode.steps.entries()) {
    if ('refused' in screenshot) {
      const { file, refused: reason } = screenshot;
      yield note('screenshot_missing', episode.where, { task_id: episode.taskId, step_index: index, file, reason });
      missing.push(index);
      unseen.push(text);
      known = text === null ? 0 : known + 1;
      shown = 0;
      continue;
    }
    steps.push({
      index,
      observation: { screenshot },
      response: { text: text ?? '', token_ids: [], logprobs: [], finish_reason: 'stop' },
      prompt: {
        history: Math.min(known, MAX_HISTORY),
        // Screens go with the newest replies, one to one: none from before a reply that has none.
        screenshots: Math.min(shown + 1, MAX_SCREENSHOTS),
        ...(unseen.length === 0 ? {} : { unseen_replies: unseen }),
      },
      model_version: 0,
      actions,
      ...(parseError === null ? {} : { parse_error: parseError }),
      policy_ms: 0,
      env_ms: 0,
    });
    unseen = [];
    known += 1;
    shown += 1;
  }
  return { steps, missing };
}
