import type { Action } from '../../stream/action.ts';
import { WHEEL_CLICKS } from '../../stream/action.ts';

/** An action in a few words: `click (120, 33)`, `type "hello⏎"`, `press ctrl+s`. */
export function actionWords(action: Action): string {
  switch (action.type) {
    case 'drag':
      return `drag (${action.x}, ${action.y}) → (${action.to_x}, ${action.to_y})`;
    case 'scroll': {
      const at = action.x === undefined || action.y === undefined ? '' : ` at (${action.x}, ${action.y})`;
      return `scroll ${action.direction} ${action.amount ?? WHEEL_CLICKS}${at}`;
    }
    case 'type':
      return `type "${shownText(action.text)}"`;
    case 'hotkey':
      return `press ${action.keys.join('+')}`;
    case 'key_down':
      return `hold ${action.key}`;
    case 'key_up':
      return `let go of ${action.key}`;
    case 'mouse_down':
      return `hold the ${action.button} button`;
    case 'mouse_up':
      return `let go of the ${action.button} button`;
    case 'wait':
      return action.ms === undefined ? 'wait' : `wait ${durationWords(action.ms)}`;
    case 'finished':
      return action.text ? `finished: ${action.text}` : 'finished';
    case 'fail':
      return action.reason ? `fail: ${action.reason}` : 'fail';
    default:
      return `${action.type.replaceAll('_', ' ')} (${action.x}, ${action.y})`;
  }
}

/** Line breaks and tabs as the keys that they are. */
export function shownText(text: string): string {
  return text.replace(/\r\n|[\r\n]/g, '⏎').replaceAll('\t', '⇥');
}

/** `0.31 ms`, `27 ms`, `1.3 s`, `12 min 3 s`, `2 h 5 min`. */
export function durationWords(ms: number): string {
  if (ms < 1) return ms === 0 ? '0 ms' : `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
