import type { Step } from './records.ts';

/**
 * Replies that an imported episode had between the step before this one and this one, without steps of their own since
 * their screens are missing; null for a reply that is not known either. Most steps have none.
 */
export function unseenReplies({ prompt }: Pick<Step, 'prompt'>): readonly (string | null)[] {
  const unseen = prompt.unseen_replies;
  return Array.isArray(unseen) ? unseen.map((reply) => (typeof reply === 'string' ? reply : null)) : [];
}

/**
 * The newest `most` replies before the step at `position`, oldest first, those without screens among them. They reach
 * back no further than to a reply that is not known: a history with a hole in it would be a false one.
 */
export function earlierReplies(
  steps: readonly Pick<Step, 'prompt' | 'response'>[],
  position: number,
  most: number,
): string[] {
  const newestFirst: string[] = [];
  for (let at = position; at >= 0 && newestFirst.length < most; at--) {
    const step = steps[at]!;
    if (at < position) newestFirst.push(step.response.text);
    for (const reply of unseenReplies(step).toReversed()) {
      if (reply === null) return newestFirst.slice(0, most).reverse();
      newestFirst.push(reply);
    }
  }
  return newestFirst.slice(0, most).reverse();
}

/** Hashes of the screenshots before the step's own that its prompt held, oldest first. */
export function earlierScreenshots(steps: readonly Pick<Step, 'prompt' | 'observation'>[], position: number): string[] {
  const held = Math.min((steps[position]!.prompt.screenshots ?? 1) - 1, position);
  if (held < 1) return [];
  return steps.slice(position - held, position).map(({ observation }) => observation.screenshot.sha256);
}
