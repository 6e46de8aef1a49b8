import { findNotFinite } from '../stream/finite.ts';
import { formatPath } from '../stream/path.ts';
import type { Step, Trajectory } from '../stream/records.ts';

/** As much of a reply as a message shows. */
const MAX_SHOWN = 200;

/**
 * The trajectory as it can be written. One with a number that JSON does not have, which no reply should be able to
 * cause, is a `policy_error` that names the reply, with the steps before it: it costs this rollout, not the run.
 */
export function writable(trajectory: Trajectory): Trajectory {
  for (const [index, step] of trajectory.steps.entries()) {
    const found = findNotFinite(partsToCheck(step));
    if (!found) continue;
    const { text } = step.response;
    const shown = JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
    return {
      ...trajectory,
      steps: trajectory.steps.slice(0, index),
      reward: null,
      outcome: 'policy_error',
      error: `step ${index + 1} cannot be recorded: ${formatPath(found.path)} is ${found.value}; the reply was ${shown}`,
    };
  }
  return trajectory;
}

/** All but the numbers of tokens, of which there are thousands; those are whole or null since `stepRecord`. */
function partsToCheck({ actions, model_version, policy_ms, env_ms, observation }: Step): object {
  return { actions, model_version, policy_ms, env_ms, observation };
}
