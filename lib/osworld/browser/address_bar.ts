import type { AccessibleNode } from '../../guest/guest.ts';
import type { TaskContext } from '../context.ts';
import type { Fields } from '../fields.ts';
import { nodesOf } from '../tree.ts';

/** Names of the browser's `application` node: OSWorld's desktops have the first, Debian's and ARM's the second. */
const APPLICATIONS = new Set(['Google Chrome', 'Chromium']);

/** Entries of address bars, in document order. */
export function addressBars(tree: AccessibleNode): AccessibleNode[] {
  const applications = [...nodesOf(tree)].filter((n) => n.role === 'application' && APPLICATIONS.has(n.name));
  const isBar = (node: AccessibleNode) => node.role === 'entry' && node.name === 'Address and search bar';
  return applications.flatMap((application) => [...nodesOf(application)].filter(isBar));
}

/**
 * The address of the active tab as the address bar shows it, which leaves out `https://` and `www.`: with
 * `goto_prefix` (default `https://`) before it. Null without a browser or with an empty bar. A bar that shows a scheme
 * (it has the focus, or a page of the browser itself) gets the prefix too, as in OSWorld; not so under `strict`.
 */
export async function activeUrl(config: Fields, context: TaskContext): Promise<string | null> {
  const bars = addressBars(await context.guest.accessibility());
  const text = bars[0]?.text;
  if (!text || !bars.at(-1)?.text) return null;
  const isWhole = context.protocol.fidelity === 'strict' && /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  return isWhole ? text : `${config.text('goto_prefix', 'https://')}${text}`;
}
