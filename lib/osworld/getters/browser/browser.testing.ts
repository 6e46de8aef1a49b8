import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessibleNode } from '../../../guest/guest.ts';
import { contextOf, type TaskOptions } from '../../context.ts';
import { Fields } from '../../fields.ts';
import { FakeGuest } from '../../guest.testing.ts';
import { normaliseTask } from '../../task.ts';
import { browserGetters } from '../browser.ts';

export const task = normaliseTask({ id: 't1', instruction: 'do it', evaluator: { func: 'infeasible' } }, 'x');

export const PROFILE = '/home/user/.config/google-chrome';

/** What a getter of the browser gives on that desktop; nothing waits for OSWorld's pauses. */
export function get(type: string, guest: FakeGuest, config: object = {}, options: TaskOptions = {}): Promise<unknown> {
  const protocol = { sleepScale: 0, ...options.protocol };
  return browserGetters[type]!(new Fields(type, 't1', config), contextOf(task, guest, { ...options, protocol }));
}

/** A desktop whose address bar shows `text`. */
export function showing(text: string, guest = new FakeGuest(), application = 'Google Chrome'): FakeGuest {
  const node = (role: string, name: string, children: AccessibleNode[], entry?: string): AccessibleNode => ({
    ...{ role, name, states: [], children },
    text: entry,
  });
  const bar = node('entry', 'Address and search bar', [], text);
  guest.tree = node('desktop-frame', '', [node('application', application, [node('frame', 'w', [bar])])]);
  return guest;
}

/** What OSWorld's Python gave (fixtures/documents/browser/make.py). */
export interface Golden {
  addresses: { getter: string; url: string; config: object; value: unknown }[];
  preferences: { file: string | null; values: Record<string, unknown> }[];
}

export const golden: Golden = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../fixtures/documents/browser/golden.json'), 'utf8'),
);
