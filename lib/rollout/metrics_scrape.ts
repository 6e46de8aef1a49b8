/** Requests that a server has: those it is working on, and those that wait. */
export interface QueueDepth {
  running: number;
  waiting: number;
}

const RUNNING = ['vllm:num_requests_running', 'sglang:num_running_reqs', 'dart_rollout_requests_running'];
const WAITING = ['vllm:num_requests_waiting', 'sglang:num_queue_reqs', 'dart_rollout_requests_waiting'];

/** The queue of a server in its `/metrics` (Prometheus text), summed over engines; null where it says nothing of one. */
export function queueDepthIn(text: string): QueueDepth | null {
  const running = sumOf(text, RUNNING);
  const waiting = sumOf(text, WAITING);
  return running === null && waiting === null ? null : { running: running ?? 0, waiting: waiting ?? 0 };
}

/** `name{labels} value` or `name value`, with an optional time after it. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{.*\})?\s+(\S+)/;

function sumOf(text: string, names: readonly string[]): number | null {
  let sum: number | null = null;
  for (const line of text.split('\n')) {
    const found = SAMPLE.exec(line);
    if (!found || !names.includes(found[1]!)) continue;
    const value = Number(found[2]);
    if (Number.isFinite(value)) sum = (sum ?? 0) + value;
  }
  return sum;
}
