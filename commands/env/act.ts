import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { EXIT } from '../../lib/errors.ts';
import type { Action, Guest } from '../../lib/guest/guest.ts';
import { parseReply } from '../../lib/policy/grammar/index.ts';
import { endsEpisode } from '../../lib/stream/action.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { saveScreen } from './screenshot.ts';
import { openDesktop } from './target.ts';

/** Plays the actions of the command line one after another, each read before the first is played. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options, positionals } = context;
  const guest = await openDesktop(context);
  try {
    const actions = positionals.slice(1).flatMap((text) => {
      const read = actionsOf(text, guest);
      const { width, height } = guest.screen;
      if (isBeyond(text, read))
        logOf(context).warn(`${text} points beyond the screen of ${width}x${height}: its edge is taken`);
      return read;
    });
    const output = await openOutput(context);
    for (const action of actions) {
      io.signal.throwIfAborted();
      if (endsEpisode(action)) logOf(context).warn(`${action.type} does nothing in a desktop`);
      if (options['dry-run'] !== true) await guest.act(action);
      await output.write({ type: 'event', v: SCHEMA_VERSION, event: 'action', desktop: guest.id, action });
    }
    const path = options.screenshot;
    if (typeof path === 'string' && options['dry-run'] !== true)
      await output.write(await saveScreen(context, guest, path));
    await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-env act', actions: actions.length });
    await output.close();
  } finally {
    await guest.close();
  }
  return EXIT.ok;
}

/** Any point that somebody may write is on it. */
const VAST = { width: 1_000_000, height: 1_000_000 };

/** Whether a point of it is not on the screen: reading it has moved the point to the edge. */
function isBeyond(text: string, actions: readonly Action[]): boolean {
  const asWritten = parseReply(text, { screen: VAST, coordinates: 'absolute' }).actions;
  return JSON.stringify(asWritten) !== JSON.stringify(actions);
}

/** @throws UsageError for what is no action. */
function actionsOf(text: string, { screen }: Guest): Action[] {
  const { actions, parseError } = parseReply(text, { screen, coordinates: 'absolute' });
  if (parseError === null) return actions;
  throw new UsageError(parseError, { where: text, hint: "click(120,48), type('hi'), hotkey(ctrl s)" });
}
