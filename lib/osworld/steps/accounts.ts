import type { StepRunner } from '../kinds.ts';
import { Unsupported } from '../unsupported.ts';

/** A step that needs a Google account, which OSWorld's own code carries out; without the bridge it is unsupported. */
function bridged(type: string): StepRunner {
  return async (parameters, { bridge, task, cdpUrl }) => {
    if (bridge === undefined) {
      const hint = 'dart-eval with --python-bridge DIR of an OSWorld with its Google account';
      throw new Unsupported(`${parameters.owner} needs a Google account`, { where: task.task_id, hint });
    }
    await bridge.step(type, { ...parameters.values, ...(cdpUrl === undefined ? {} : { cdp_url: cdpUrl }) });
  };
}

export const accountSteps: Record<string, StepRunner> = {
  googledrive: bridged('googledrive'),
  login: bridged('login'),
};
