import type { TaskContext } from '../context.ts';
import { Fields } from '../fields.ts';
import type { Getter } from '../kinds.ts';
import { type Day, dayIn, todayIn, withDates } from '../relative_time.ts';
import { Unsupported } from '../unsupported.ts';

/** `{rules}`: what the task says itself. */
const rule: Getter = async (config) => config.values.rules;

/** `{command, shell?}`: standard output of a command on the guest. */
const commandOutput: Getter = async (config, { guest }) =>
  (await guest.execute(config.command(), { shell: config.flag('shell') })).output;

/** `{command, shell?}`: standard error of a command on the guest. */
const commandError: Getter = async (config, { guest }) =>
  (await guest.execute(config.command(), { shell: config.flag('shell') })).error;

/** Text of the focused terminal. */
const terminalOutput: Getter = (_config, { guest }) => guest.terminalOutput();

/** The accessibility tree, as nodes. */
const accessibilityTree: Getter = (_config, { guest }) => guest.accessibility();

const screenSize: Getter = async (_config, { guest }) => ({ ...guest.screen });

/** `{app_class_name}`: the size of that program's window; null when it has none. */
const windowSize: Getter = (config, { guest }) => guest.windowSize(config.text('app_class_name'));

/** The picture behind the windows, as a file; null when there is none. */
const wallpaper: Getter = async (config, { guest }) => {
  const bytes = await guest.wallpaper();
  return bytes === null ? null : { name: config.text('dest', 'wallpaper.png'), bytes };
};

/** `{rules: {relativeTime, timezone?, expected}}`: the rules with dates for `tomorrow` and its like. */
const relativeTime: Getter = async (config, context) => {
  const rules = new Fields(`rules of ${config.owner}`, config.where, config.object('rules'));
  return withDates(rules, rules.has('timezone') ? todayIn(rules.text('timezone')) : await todayOf(context));
};

/** The day on the guest's calendar; where it does not tell, in UTC. */
async function todayOf({ guest }: TaskContext): Promise<Day> {
  const said = await guest.execute(['date', '+%Y-%m-%d']);
  return dayIn(said.output) ?? todayIn('UTC');
}

/** `{diff_range_in_minutes}`, as it is. */
const timeDifference: Getter = async (config) => config.values.diff_range_in_minutes ?? null;

/** Files of a Google account, which OSWorld's own code fetches. */
const googleDrive: Getter = async (config, { bridge, task }) => {
  if (bridge === undefined) {
    const hint = 'dart-eval with --python-bridge DIR of an OSWorld with its Google account';
    throw new Unsupported(`${config.owner} needs a Google account`, { where: task.task_id, hint });
  }
  return bridge.fetch('googledrive_file', config.values);
};

export const generalGetters: Record<string, Getter> = {
  rule,
  vm_command_line: commandOutput,
  vm_command_error: commandError,
  vm_terminal_output: terminalOutput,
  accessibility_tree: accessibilityTree,
  vm_screen_size: screenSize,
  vm_window_size: windowSize,
  vm_wallpaper: wallpaper,
  rule_relativeTime: relativeTime,
  time_diff_range: timeDifference,
  googledrive_file: googleDrive,
};
