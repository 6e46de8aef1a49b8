import type { TaskContext } from './context.ts';

/**
 * Fills OSWorld's placeholders in a command: `{CLIENT_PASSWORD}`, `{SCREEN_WIDTH}`, `{SCREEN_HEIGHT}` and their
 * `_HALF` forms. Returns a new command; the task is not changed.
 */
export function fillCommand(command: string | string[], context: TaskContext): string | string[] {
  return Array.isArray(command) ? command.map((part) => fillText(part, context)) : fillText(command, context);
}

function fillText(text: string, { guest, protocol }: TaskContext): string {
  const { width, height } = guest.screen;
  const values: Record<string, string> = {
    CLIENT_PASSWORD: protocol.clientPassword,
    SCREEN_WIDTH: String(width),
    SCREEN_HEIGHT: String(height),
    SCREEN_WIDTH_HALF: String(Math.floor(width / 2)),
    SCREEN_HEIGHT_HALF: String(Math.floor(height / 2)),
  };
  return text.replace(/\{([A-Z_]+)\}/g, (whole, name: string) => values[name] ?? whole);
}
