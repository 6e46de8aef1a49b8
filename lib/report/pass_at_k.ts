/**
 * The chance that at least one of `k` rollouts succeeds, estimated without bias from `successes` in `rollouts` (Chen et al.
 * 2021): 1 − C(n − c, k) / C(n, k), as a product, so that nothing overflows.
 *
 * @param k at most `rollouts`
 */
export function passAtK(rollouts: number, successes: number, k: number): number {
  if (k < 1 || k > rollouts) throw new RangeError(`pass@${k} needs at least ${k} rollouts, there are ${rollouts}`);
  if (rollouts - successes < k) return 1;
  let fail = 1;
  for (let i = rollouts - successes + 1; i <= rollouts; i++) fail *= 1 - k / i;
  return 1 - fail;
}

/**
 * Mean pass@k over tasks for k = 1, 2, 4, 8, …, as far as the task with most rollouts goes; a task with fewer than k
 * rollouts takes no part in pass@k.
 */
export function passAtPowers(
  tasks: readonly { rollouts: number; successes: number }[],
): { k: number; value: number; tasks: number }[] {
  const most = Math.max(0, ...tasks.map(({ rollouts }) => rollouts));
  const found: { k: number; value: number; tasks: number }[] = [];
  for (let k = 1; k <= most; k *= 2) {
    const values = tasks.filter(({ rollouts }) => rollouts >= k).map((t) => passAtK(t.rollouts, t.successes, k));
    found.push({ k, value: values.reduce((a, b) => a + b, 0) / values.length, tasks: values.length });
  }
  return found;
}
