import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adviceFor, GROUP_REASONS, type Meaning, NOTICES, RECORD_REASONS, TRAJECTORY_REASONS } from './reasons.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/curation.md'), 'utf8');

/** The rows of the table below a heading of docs/curation.md. */
function table(heading: string): string[] {
  const section = page.slice(page.indexOf(heading)).split(/\n##+ /)[0]!;
  return section.split('\n').filter((line) => line.startsWith('| `'));
}

const rows = (meanings: Record<string, Meaning>) =>
  Object.entries(meanings).map(([name, meaning]) => `| \`${name}\` | ${meaning.means} | ${meaning.try} |`);

describe('docs/curation.md', () => {
  it.each([
    ['### `trajectory_rejected`', TRAJECTORY_REASONS],
    ['### `group_rejected`', GROUP_REASONS],
    ['### `record_rejected`', RECORD_REASONS],
    ['### Events that are no rejections', NOTICES],
  ])('%s lists the reasons of the code, with their meaning', (heading, meanings) => {
    expect(table(heading)).toEqual(rows(meanings));
  });
});

describe('adviceFor', () => {
  it('knows the reasons of trajectories and groups', () => {
    expect(adviceFor('late')).toBe('a larger --group-timeout');
    expect(adviceFor('no_success_stored')).toContain('dart-curate pool add');
    expect(adviceFor('whatever')).toBeUndefined();
  });
});
