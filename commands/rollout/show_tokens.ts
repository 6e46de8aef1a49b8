import { DEFAULT_CONFIG } from '../../lib/policy/network/config.ts';
import { CHARACTERS, HOTKEYS, PLACED_VERBS, PLAIN_VERBS, TOKEN } from '../../lib/policy/network/tokens.ts';
import { decodeReply } from '../../lib/policy/network/vocabulary.ts';
import type { TokenTexts } from '../../lib/report/trajectory/tokens.ts';
import type { Trajectory } from '../../lib/stream/records.ts';

/** What the tokens of a trajectory of the embedded policy spell; undefined for all other policies. */
export function spellingOf(trajectory: Trajectory): TokenTexts | undefined {
  if (!trajectory.policy.name.startsWith('onnx:')) return undefined;
  // Another network may have other ids: only where they give the very reply are they these.
  return ({ response: { token_ids, text } }) =>
    decodeReply(token_ids, DEFAULT_CONFIG) === text ? token_ids.map(spell) : null;
}

function spell(id: number): string {
  if (id < TOKEN.firstPlain) return `${PLACED_VERBS[id]} `;
  if (id < TOKEN.firstHotkey) return `${PLAIN_VERBS[id - TOKEN.firstPlain]} `;
  if (id < TOKEN.type) return `${HOTKEYS[id - TOKEN.firstHotkey]} `;
  if (id === TOKEN.type) return 'type ';
  if (id < TOKEN.newline) return CHARACTERS[id - TOKEN.firstCharacter]!.replace('\n', '⏎');
  if (id === TOKEN.newline) return '⏎';
  return id === TOKEN.end ? '∎' : `cell ${id - TOKEN.firstCell} `;
}
