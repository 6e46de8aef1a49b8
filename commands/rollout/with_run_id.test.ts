import { expect, it } from 'vitest';
import { DartError, messageOf } from '../../lib/errors.ts';
import { KeptInFile, StoreTrouble } from '../../lib/store/index.ts';
import { withRunId } from './with_run_id.ts';

const options = { where: 'a.db', hint: 'freeing disk space, then the same command again' };
const more = 'freeing disk space, then the same command again; with --run-id r1 it goes on with this run';

it('names the run in the hint of what the store ended, and only of that', () => {
  const kept = new KeptInFile('full; 2 trajectories kept in f', { path: 'f', trajectories: 2 }, options);
  expect(messageOf(withRunId(kept, 'r1'))).toBe(`a.db: full; 2 trajectories kept in f. Try: ${more}`);
  expect(messageOf(withRunId(new StoreTrouble('stuck', 'full', options), 'r1'))).toBe(`a.db: full. Try: ${more}`);
  const other = new DartError('no desktop is left', options);
  expect(withRunId(other, 'r1')).toBe(other);
});
