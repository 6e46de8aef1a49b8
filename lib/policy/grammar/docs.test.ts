import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PYAUTOGUI_CALLS } from '../../guest/pyautogui.ts';
import { ACTION_TYPES } from './computer13.ts';
import type { ScreenConvention } from './coordinates.ts';
import { parseReply } from './parse.ts';
import { peerReading } from './peer.testing.ts';
import { VERB_NAMES } from './verbs.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'actions.md'), 'utf8');
const absolute: ScreenConvention = { screen: { width: 1920, height: 1080 }, coordinates: 'absolute' };

/** The rows of all tables with these headings: each cell without its code marks, ⏎ as the line break that it means. */
function rowsUnder(...headings: string[]): string[][] {
  const tables = page.split('\n\n').filter((block) => block.startsWith(`| ${headings.join(' | ')} |\n`));
  return tables.flatMap((table) => table.trimEnd().split('\n').slice(2)).map(cellsOf);
}

function cellsOf(row: string): string[] {
  const cells = row.slice(2, -2).split(' | ');
  return cells.map((cell) =>
    cell
      .replace(/^`([\s\S]*)`$/, '$1')
      .replaceAll('\\|', '|')
      .replaceAll('⏎', '\n'),
  );
}

/** What the page says of a reply: its actions as JSON, or else the reason why it has none. */
function readingOf(reply: string, convention: ScreenConvention): unknown {
  const { actions, parseError } = parseReply(reply, convention);
  return parseError ?? JSON.stringify(actions);
}

describe('docs/actions.md', () => {
  it.each(rowsUnder('reply', 'actions'))('%s', (reply, actions) => expect(readingOf(reply!, absolute)).toBe(actions));

  it.each(rowsUnder('convention', 'reply', 'actions'))('%s: %s', (coordinates, reply, actions) => {
    const convention = { ...absolute, coordinates: coordinates as ScreenConvention['coordinates'] };
    expect(readingOf(reply!, convention)).toBe(actions);
  });

  it.each(rowsUnder('reply', 'parse_error'))('%s is no action', (reply, reason) => {
    expect(parseReply(reply!, absolute)).toMatchObject({ actions: [], parseError: reason });
  });

  it.each(rowsUnder('reply', 'here', 'the peer'))('%s differs from the peer', (reply, here, there) => {
    expect(readingOf(reply!, absolute)).toBe(here);
    const peer = peerReading(reply!, absolute).map((each) => ({ [each.action_type]: each.action_inputs }));
    expect(JSON.stringify(peer)).toBe(there);
  });

  it('runs its tables', () => {
    expect(rowsUnder('reply', 'actions').length).toBeGreaterThan(70);
    expect(rowsUnder('reply', 'parse_error').length).toBeGreaterThan(15);
    expect(rowsUnder('reply', 'here', 'the peer').length).toBeGreaterThan(8);
  });

  it('names every verb, action_type and pyautogui call', () => {
    const words = new Set(page.match(/[\w.]+/g));
    const missing = [...VERB_NAMES, ...ACTION_TYPES, ...PYAUTOGUI_CALLS].filter((name) => !words.has(name));
    expect(missing).toEqual([]);
  });

  it('tells the difference in rounding as it is', () => {
    // 770/28 = 27.5 → 28 for both; 1190/28 = 42.5 → 42 here, 43 at the peer: 600 · 1190/1176 and 600 · 1190/1204
    const convention: ScreenConvention = { screen: { width: 1190, height: 770 }, coordinates: 'smart-resize' };
    const reply = "Action: click(start_box='(600,0)')";
    expect(parseReply(reply, convention).actions).toEqual([{ type: 'click', x: 607, y: 0 }]);
    expect(peerReading(reply, convention)[0]!.action_inputs.start_coords).toEqual([593.023, 0]);
    expect(peerReading("Action: click(start_box='(1,2')", absolute)[0]!.action_inputs.start_coords).toEqual([1, 2]);
  });
});
