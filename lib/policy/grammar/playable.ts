import { MAX_ACTIONS } from '../../guest/pyautogui.ts';
import { type Action, endsEpisode } from '../../stream/action.ts';
import { GrammarError } from './call.ts';

/** A reply that asks for a longer pause gets this one: no reply holds a desktop for hours. */
export const LONGEST_WAIT_MS = 60_000;
/** More clicks of the wheel than these reach no further. */
const MOST_CLICKS = MAX_ACTIONS;

/**
 * The last look at actions before they leave the grammar: whatever path they came by, each can be played and recorded.
 * Texts are well-formed from here on.
 * @throws GrammarError for a place that is not known, a number that is none, and a character that nobody can type.
 */
export function sound(actions: readonly Action[]): Action[] {
  for (const action of actions) checkNumbers(action);
  return actions.map((action) => {
    if (action.type !== 'type') return action;
    if (action.text.includes('\0')) throw new GrammarError('type has a NUL character, which no keyboard has');
    return action.text.isWellFormed() ? action : { ...action, text: action.text.toWellFormed() };
  });
}

/**
 * What of a reply is played: up to the action that ends the episode, with pauses and turns of the wheel that end in
 * sensible time.
 */
export function bounded(actions: readonly Action[]): Action[] {
  const end = actions.findIndex(endsEpisode);
  return (end < 0 ? actions : actions.slice(0, end + 1)).map((action) => {
    if (action.type === 'wait' && action.ms !== undefined && action.ms > LONGEST_WAIT_MS) {
      return { ...action, ms: LONGEST_WAIT_MS };
    }
    if (action.type === 'scroll' && action.amount !== undefined && action.amount > MOST_CLICKS) {
      return { ...action, amount: MOST_CLICKS };
    }
    return action;
  });
}

function checkNumbers(action: Action): void {
  const lost = ['x', 'y'].filter((axis) => Number.isNaN((action as Record<string, unknown>)[axis]));
  if (lost.length > 0) {
    const what = lost.length === 2 ? 'place' : lost[0];
    throw new GrammarError(`${action.type} names no ${what}, and nothing before it does`);
  }
  for (const [name, value] of Object.entries(action)) {
    if (typeof value !== 'number') continue;
    // A pause may be a fraction of a millisecond; everything else counts pixels or clicks.
    if (name === 'ms' ? Number.isFinite(value) : Number.isSafeInteger(value)) continue;
    throw new GrammarError(`${name} of ${action.type} is out of all range`);
  }
}
