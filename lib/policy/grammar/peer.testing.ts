import { actionParser } from '@ui-tars/action-parser';
import type { Action } from '../../guest/guest.ts';
import type { ScreenConvention } from './coordinates.ts';

/** What `@ui-tars/action-parser` makes of a reply: a verb and its arguments for each call, nothing where it gave up. */
export interface PeerAction {
  action_type: string;
  action_inputs: Record<string, unknown>;
}

/** The peer's reading, without what it prints of its failures. */
export function peerReading(prediction: string, { screen, coordinates }: ScreenConvention): PeerAction[] {
  const modelVer = (coordinates === 'smart-resize' ? '1.5' : '1.0') as never;
  const factor: [number, number] = coordinates === 'absolute' ? [screen.width, screen.height] : [1000, 1000];
  const shown = console.error;
  console.error = () => {};
  try {
    const { parsed } = actionParser({ prediction, factor, screenContext: screen, modelVer });
    return parsed.map(({ action_type, action_inputs }) => ({ action_type, action_inputs: { ...action_inputs } }));
  } finally {
    console.error = shown;
  }
}

const POINTERS: Readonly<Record<string, 'click' | 'double_click' | 'right_click' | 'middle_click' | 'move'>> = {
  click: 'click',
  left_single: 'click',
  left_double: 'double_click',
  right_single: 'right_click',
  middle_click: 'middle_click',
  hover: 'move',
};

/**
 * The peer's verb and arguments as an action, as UI-TARS-desktop plays them: keys apart at blanks and plus signs.
 * Coordinates keep the peer's thousandths of a pixel, up to the last pixel. Null for what the peer could not read.
 */
export function peerAction({ action_type, action_inputs }: PeerAction, { screen }: ScreenConvention): Action | null {
  const at = (name: 'start_coords' | 'end_coords') => {
    const [x, y] = action_inputs[name] as [number, number];
    return { x: edge(x, screen.width), y: edge(y, screen.height) };
  };
  const text = (name: string) => String(action_inputs[name] ?? '');
  const pointer = POINTERS[action_type];
  if (pointer) return { type: pointer, ...at('start_coords') };
  switch (action_type) {
    case 'drag':
    case 'select': {
      const to = at('end_coords');
      return { type: 'drag', ...at('start_coords'), to_x: to.x, to_y: to.y };
    }
    case 'scroll': {
      const place = action_inputs.start_coords ? at('start_coords') : {};
      return { type: 'scroll', ...place, direction: text('direction') as 'up' };
    }
    case 'hotkey':
      return { type: 'hotkey', keys: text('key').split(/[\s+]+/) };
    case 'type':
      return { type: 'type', text: text('content') };
    case 'finished':
      return 'content' in action_inputs ? { type: 'finished', text: text('content') } : { type: 'finished' };
    case 'wait':
      return { type: 'wait' };
    case 'call_user':
      return { type: 'fail' };
    default:
      return null;
  }
}

function edge(value: number, length: number): number {
  return Math.min(Math.max(value, 0), length - 1);
}
