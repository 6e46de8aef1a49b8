import type { Getter } from '../kinds.ts';

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

export const generalGetters: Record<string, Getter> = {
  rule,
  vm_command_line: commandOutput,
  vm_command_error: commandError,
  vm_terminal_output: terminalOutput,
  accessibility_tree: accessibilityTree,
  vm_screen_size: screenSize,
};
