import { describe, expect, it } from 'vitest';
import { queueDepthIn } from './metrics_scrape.ts';

describe('queueDepthIn', () => {
  it("sums vLLM's gauges over its engines", () => {
    const text = [
      '# HELP vllm:num_requests_running Number of requests in model execution batches.',
      '# TYPE vllm:num_requests_running gauge',
      'vllm:num_requests_running{engine="0",model_name="ui-tars"} 3.0',
      'vllm:num_requests_running{engine="1",model_name="a {b} c"} 2.0',
      'vllm:num_requests_waiting{engine="0",model_name="ui-tars"} 4.0 1764000000000',
      'vllm:num_requests_waiting_by_reason{reason="x"} 9.0',
      'vllm:kv_cache_usage_perc{engine="0"} 0.5',
    ].join('\n');
    expect(queueDepthIn(text)).toEqual({ running: 5, waiting: 4 });
  });

  it("reads SGLang's, and our own", () => {
    expect(queueDepthIn('sglang:num_running_reqs{tp_rank="0"} 7\nsglang:num_queue_reqs 1\n')).toEqual({
      running: 7,
      waiting: 1,
    });
    expect(queueDepthIn('dart_rollout_requests_running 2\ndart_rollout_requests_waiting 0\n')).toEqual({
      running: 2,
      waiting: 0,
    });
  });

  it('is null where nothing is said, and passes over what is no number', () => {
    expect(queueDepthIn('up 1\n')).toBeNull();
    expect(queueDepthIn('vllm:num_requests_running NaN\n')).toBeNull();
  });
});
