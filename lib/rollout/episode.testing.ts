import type { EpisodeOptions } from './episode.ts';

/** How an episode runs where a test says nothing else: no set-up, and every end is a success. */
export function episodeOptions(changes: Partial<EpisodeOptions> = {}): Omit<EpisodeOptions, 'policy'> {
  return {
    keep: () => 'a'.repeat(64),
    sampling: { temperature: 1 },
    seed: 1,
    onParseError: 'observe',
    failAtLimit: false,
    setup: async () => {},
    evaluate: async () => 1,
    ...changes,
  };
}
