import type { StepRunner } from '../kinds.ts';

/** `{window_name, strict?, by_class?}`: brings a window to the front. */
const activate: StepRunner = async (parameters, { guest }) => {
  await guest.activateWindow(parameters.text('window_name'), {
    strict: parameters.flag('strict'),
    byClass: parameters.flag('by_class'),
  });
};

/** `{window_name, strict?, by_class?}`: closes a window. */
const close: StepRunner = async (parameters, { guest }) => {
  await guest.closeWindow(parameters.text('window_name'), {
    strict: parameters.flag('strict'),
    byClass: parameters.flag('by_class'),
  });
};

/** `{path}`: puts a picture of the guest behind the windows. */
const wallpaper: StepRunner = async (parameters, { guest }) => {
  await guest.setWallpaper(parameters.text('path'));
};

export const windowSteps: Record<string, StepRunner> = {
  activate_window: activate,
  close_window: close,
  change_wallpaper: wallpaper,
};
