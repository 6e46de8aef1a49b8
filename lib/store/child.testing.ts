import { openStore } from './open.ts';
import { newOwner } from './owner.ts';
import { trajectory } from './trajectories.testing.ts';

/**
 * One of several processes at the same store: stores the same trajectories as all others, decides and leases the same
 * groups, and prints the ids of what it got.
 */
const [url = '', groups = '0'] = process.argv.slice(2);
const store = await openStore(url);
const lease = { owner: newOwner(), ttlMs: 600_000 };
const inserted: number[] = [];
const decided: string[] = [];
for (let g = 0; g < Number(groups); g++) {
  const members = [0, 1].map((index) => trajectory({ id: `g${g}.${index}`, group: `g${g}`, index, reward: index }));
  inserted.push(await store.insertTrajectories(members));
  const group = {
    group_id: `g${g}`,
    run_id: 'run1',
    task_id: 'chrome/t1',
    size: 2,
    members: members.map((member, position) => ({
      trajectory_id: member.trajectory_id,
      position,
      reward: member.reward ?? 0,
      advantage: 0,
      injected: false,
    })),
  };
  if (await store.insertGroup(group)) decided.push(group.group_id);
}
const leased: string[] = [];
for (;;) {
  const got = await store.leaseGroups(lease, { limit: 3 });
  if (got.length === 0) break;
  leased.push(...got.map((group) => group.group_id));
}
process.stdout.write(JSON.stringify({ inserted: inserted.reduce((a, b) => a + b, 0), decided, leased }));
// Alive until the others are done: a dead process's leases are free for all.
process.stdin.resume().on('end', () => store.close());
