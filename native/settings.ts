import { native } from './addon.ts';
import { checkChoice, checkInteger } from './check.ts';

/** What the CPU kernels can be told to use. */
export const INSTRUCTIONS = ['auto', 'scalar', 'avx2', 'avx512', 'neon'] as const;
export type Instructions = (typeof INSTRUCTIONS)[number];

/** kMostThreads of native/kernels/cpu/threads.h. */
const MOST_THREADS = 1024;

/**
 * How many threads share a call of a CPU kernel, in the whole process, from 0 to 1024; 0: as many as the machine has
 * cores. Results are the same bytes for any number.
 */
export function setThreads(count: number): void {
  native().addon.setThreads({ threads: checkInteger(count, 'threads', 0, MOST_THREADS) });
}

/** The number of threads that share a call. */
export function threads(): number {
  return native().addon.threads();
}

/**
 * Which instructions the CPU kernels use, in the whole process: `auto` is the widest that the machine has, `scalar` the
 * reference.
 * @throws TypeError for instructions that this machine or build does not have.
 */
export function setInstructions(name: Instructions): void {
  checkChoice(name, 'instructions', INSTRUCTIONS);
  native().addon.setInstructions({ name });
}

/** The instructions in use. */
export function instructions(): string {
  return native().addon.instructions();
}
