import { openStore } from './open.ts';
import { newOwner } from './owner.ts';
import { trajectory } from './trajectories.testing.ts';

/**
 * One of several processes at the same store: plans and leases the same rollouts as all others, stores the same
 * trajectories, fills the same pool, decides, leases and acknowledges the same groups, and prints what it got.
 */
const [url = '', groups = '0'] = process.argv.slice(2);
const store = await openStore(url);
const lease = { owner: newOwner(), ttlMs: 600_000 };
const inserted: number[] = [];
const work: string[] = [];
let pooled = 0;
const decided: string[] = [];
for (let g = 0; g < Number(groups); g++) {
  const members = [0, 1].map((index) => trajectory({ id: `g${g}.${index}`, group: `g${g}`, index, reward: index }));
  const items = members.map(({ group_id, rollout_index }) => ({ group_id, rollout_index }));
  await store.planGroups([{ group_id: `g${g}`, run_id: 'run1', task_id: 'chrome/t1', size: 2 }]);
  for (const item of await store.leaseWork(items, lease.owner, 600_000))
    work.push(`${item.group_id}.${item.rollout_index}`);
  inserted.push(await store.insertTrajectories(members));
  pooled += await store.addExperience([members[1]!], { capacity: 1000 });
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
const learned = { run_id: 'run1', version: 1, path: 'versions/1', groups: ['g0', 'g1'] };
const published = await store.publishVersion(learned);
const acknowledged = await store.acknowledge(['g2', 'g3'], { reason: 'stale' });
const total = inserted.reduce((a, b) => a + b, 0);
process.stdout.write(
  JSON.stringify({ inserted: total, work, pooled, decided, leased, published: published.isNew, acknowledged }),
);
// Alive until the others are done: a dead process's leases are free for all.
process.stdin.resume().on('end', () => store.close());
