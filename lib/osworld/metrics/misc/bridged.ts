import type { Metric } from '../../kinds.ts';
import { Unsupported } from '../../unsupported.ts';

/** A metric that only OSWorld's own code has; without the bridge the task is unsupported. */
function bridged(): Metric {
  return async ({ name, where, result, expected, options, bridge }) => {
    if (bridge === undefined) {
      throw new Unsupported(`metric ${name} needs OSWorld's own code`, {
        where,
        hint: 'dart-eval with --python-bridge DIR of an OSWorld',
      });
    }
    return bridge.score(name, result, expected, options.values);
  };
}

/** Metrics that need heavy models: of sound, video and text in pictures. */
export const bridgedMetrics: Record<string, Metric> = {
  compare_audios: bridged(),
  compare_videos: bridged(),
  compare_image_text: bridged(),
};
