import type { Action } from '../guest/guest.ts';
import type { PolicyReply } from '../policy/policy.ts';
import type { Screenshot, Step } from '../stream/records.ts';

export interface StepParts {
  index: number;
  screenshot: Screenshot;
  reply: PolicyReply;
  /** How many earlier replies and screenshots the policy was shown. */
  shown: { history: number; screenshots: number };
  actions: Action[];
  parseError: string | null;
  policy_ms: number;
  env_ms: number;
}

/** The record of one step. */
export function stepRecord({
  index,
  screenshot,
  reply,
  shown,
  actions,
  parseError,
  policy_ms,
  env_ms,
}: StepParts): Step {
  const { text, tokenIds, logprobs, entropies, finishReason, modelVersion, promptTokenIds } = reply;
  return {
    index,
    observation: { screenshot },
    response: {
      text,
      token_ids: tokenIds,
      logprobs: logprobs.map(scored),
      ...(entropies ? { entropies: entropies.map(finite) } : {}),
      finish_reason: finishReason,
    },
    prompt: { ...(promptTokenIds ? { token_ids: promptTokenIds } : {}), ...shown },
    model_version: modelVersion,
    actions,
    ...(parseError === null ? {} : { parse_error: parseError }),
    policy_ms: rounded(policy_ms),
    env_ms: rounded(env_ms),
  };
}

/** What is no finite number (servers say −9999 or nothing) is an unscored token. */
function scored(logprob: number | null): number | null {
  return logprob !== null && logprob > -9999 ? finite(logprob) : null;
}

/** JSON has no NaN and no infinities. */
function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Microseconds are enough, and keep lines short. */
function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000);
}
