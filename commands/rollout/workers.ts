import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { splitPolicySpec } from '../../lib/policy/spec.ts';

/** Beyond it a machine does nothing but start threads: a process has a limit of them, and each has a stack. */
const MOST_THREADS = 4096;

/**
 * As what a policy of this process is opened.
 * @throws UsageError where an onnx policy would have more threads than a machine bears.
 */
export function workersOf({ options }: Pick<CommandContext, 'options'>): { workers: number; threads: number } {
  const [workers, threads] = [options.workers as number, options.threads as number];
  const { kind } = splitPolicySpec(options.policy as string);
  if (kind !== 'onnx' || workers * threads <= MOST_THREADS) return { workers, threads };
  throw new UsageError(`${workers} workers of ${threads} threads are ${workers * threads} threads`, {
    where: '--threads',
    hint: `at most ${MOST_THREADS} in all; more than the cores of this machine gain nothing`,
  });
}
