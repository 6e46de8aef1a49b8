import type { StepRunner } from '../kinds.ts';

/** `{urls_to_open}`: one tab each; the browser opens them as it does when it is called with an address. */
const openTabs: StepRunner = async (parameters, { guest }) => {
  for (const url of parameters.texts('urls_to_open')) await guest.launch(['google-chrome', url]);
};

export const browserSteps: Record<string, StepRunner> = { chrome_open_tabs: openTabs };
