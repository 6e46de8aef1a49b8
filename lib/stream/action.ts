import { z } from 'zod';

/** Wheel clicks of a scroll that does not say how many, as UI-TARS scrolls (reference/dart-and-arpo.md §1.5). */
export const WHEEL_CLICKS = 5;

/**
 * What a policy can do to a screen. Coordinates are integer pixels of the screen, origin top left.
 * One union for every guest: HTTP guests get it as pyautogui, the embedded desktop directly (design §5).
 */
const point = { x: z.number().int(), y: z.number().int() };

export const actionSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('click'), ...point }),
  z.looseObject({ type: z.literal('double_click'), ...point }),
  z.looseObject({ type: z.literal('triple_click'), ...point }),
  z.looseObject({ type: z.literal('right_click'), ...point }),
  z.looseObject({ type: z.literal('middle_click'), ...point }),
  z.looseObject({ type: z.literal('move'), ...point }),
  z.looseObject({ type: z.literal('mouse_down'), button: z.enum(['left', 'middle', 'right']) }),
  z.looseObject({ type: z.literal('mouse_up'), button: z.enum(['left', 'middle', 'right']) }),
  z.looseObject({ type: z.literal('drag'), ...point, to_x: z.number().int(), to_y: z.number().int() }),
  z.looseObject({
    type: z.literal('scroll'),
    x: z.number().int().optional(),
    y: z.number().int().optional(),
    direction: z.enum(['up', 'down', 'left', 'right']),
    /** Wheel clicks; `WHEEL_CLICKS` where absent. */
    amount: z.number().int().positive().optional(),
  }),
  /** Text as typed; a trailing newline presses Enter. */
  z.looseObject({ type: z.literal('type'), text: z.string() }),
  /** Keys pressed together, in order, in pyautogui's names: `['ctrl', 's']`. One key is a press. */
  z.looseObject({ type: z.literal('hotkey'), keys: z.array(z.string()).min(1) }),
  z.looseObject({ type: z.literal('key_down'), key: z.string() }),
  z.looseObject({ type: z.literal('key_up'), key: z.string() }),
  z.looseObject({ type: z.literal('wait'), ms: z.number().nonnegative().optional() }),
  z.looseObject({ type: z.literal('finished'), text: z.string().optional() }),
  z.looseObject({ type: z.literal('fail'), reason: z.string().optional() }),
]);

export type Action = z.infer<typeof actionSchema>;
export type ActionType = Action['type'];

/** True for the two actions that end an episode. */
export function endsEpisode(action: Action): boolean {
  return action.type === 'finished' || action.type === 'fail';
}
