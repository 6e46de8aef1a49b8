import { request as httpRequest } from 'node:http';
import { encode } from 'fast-png';
import { afterEach, describe, expect, it } from 'vitest';
import { promptOf } from '../../policy/openai/prompt.ts';
import type { Policy, PolicyReply, PolicyRequest } from '../../policy/policy.ts';
import type { LoadablePolicy } from '../worker.ts';
import { WorkerPool } from '../worker_pool.ts';
import { PolicyService, type ServiceOptions } from './service.ts';

const png = encode({ width: 2, height: 1, data: new Uint8Array([1, 2, 3, 4, 5, 6]), channels: 3, depth: 8 });
const frame = { width: 2, height: 1, rgb: () => new Uint8Array(6), png: () => png };
const messages = promptOf({ instruction: 'open it', history: ['Action: wait()'], frames: [frame, frame] }, 'absolute');

const REPLY: PolicyReply = {
  text: 'Action: wait()',
  tokenIds: [4, 5],
  logprobs: [-0.5, null],
  entropies: [0.25, 0.125],
  finishReason: 'stop',
  modelVersion: 3,
};

/** Does with each request what the test says. */
class ToldPolicy implements LoadablePolicy {
  readonly name = 'told';
  readonly coordinates = 'absolute';
  version = 3;
  readonly asked: PolicyRequest[] = [];
  answer: (request: PolicyRequest) => Promise<PolicyReply> = async () => REPLY;
  readonly loads: [number, string][] = [];

  act(request: PolicyRequest): Promise<PolicyReply> {
    this.asked.push(request);
    return this.answer(request);
  }

  async load(version: number, path: string): Promise<void> {
    if (path === 'broken') throw new Error('half a file');
    this.loads.push([version, path]);
    this.version = version;
  }

  async close(): Promise<void> {}
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
const jsonOf = async (response: Response | Promise<Response>): Promise<any> => (await response).json();

const running: PolicyService[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

async function setUp(more: Partial<ServiceOptions> = {}) {
  const policy = new ToldPolicy();
  const pool = new WorkerPool([policy as Policy], { maxFailures: 2 });
  const options = { host: '127.0.0.1', port: 0, token: null, updates: false, maxRequests: 10 };
  const service = await PolicyService.start({ pool, ...options, ...more });
  running.push(service);
  const post = (body: unknown, headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { policy, pool, service, post };
}

describe('POST /v1/chat/completions', () => {
  it('hands the conversation on as a request, and the reply back with what was asked for', async () => {
    const { policy, post } = await setUp();
    const sampling = { temperature: 0.5, top_p: 0.9, top_k: 4, max_tokens: 8 };
    const all = { logprobs: true, return_token_ids: true, return_entropies: true };
    const response = await post({ model: 'told', messages, seed: 11, ...sampling, ...all });
    expect(policy.asked[0]).toMatchObject({ instruction: 'open it', history: ['Action: wait()'], seed: 11, sampling });
    expect(policy.asked[0]!.screen).toEqual({ width: 2, height: 1 });
    expect([...policy.asked[0]!.frames.at(-1)!.rgb()]).toEqual([1, 2, 3, 4, 5, 6]);
    const body = await jsonOf(response);
    expect(body).toEqual({
      ...{ id: body.id, object: 'chat.completion', created: body.created, model: 'told' },
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Action: wait()' },
          logprobs: {
            content: [
              { token: 'token_id:4', logprob: -0.5, bytes: null, top_logprobs: [] },
              { token: 'token_id:5', logprob: -9999, bytes: null, top_logprobs: [] },
            ],
          },
          finish_reason: 'stop',
          token_ids: [4, 5],
          entropies: [0.25, 0.125],
        },
      ],
      usage: { prompt_tokens: 0, completion_tokens: 2, total_tokens: 2 },
      prompt_token_ids: null,
      metadata: { weight_version: '3' },
    });
  });

  it.each([
    [{}, 'messages: messages must be a list of at least one message'],
    ['[]', 'the body must be an object with messages'],
    [{ messages: 'hi' }, 'messages: messages must be a list'],
    [{ messages, temperature: 'hot' }, 'temperature: temperature must be a number: 0, or from 0.000001 to 1000000'],
    [{ messages, temperature: 1e-308 }, 'temperature: temperature must be a number: 0, or from 0.000001 to 1000000'],
    [{ messages, stream: 'yes' }, 'stream: stream must be true or false'],
    [{ messages, tools: [{ type: 'function' }] }, 'tools is not heeded here: leave it out'],
    [{ messages, presence_penalty: 0.5 }, 'presence_penalty is not heeded here'],
    [{ messages, response_format: { type: 'json_object' } }, 'response_format is not heeded here'],
  ])('refuses %j in words', async (body, message) => {
    const { policy, post } = await setUp();
    const response = await post(body);
    expect(response.status).toBe(400);
    expect((await jsonOf(response)).error.message).toContain(message);
    expect(policy.asked).toEqual([]);
  });

  it('takes what changes nothing, and ignores what says nothing of the reply', async () => {
    const { post } = await setUp();
    const nothing = { tools: [], presence_penalty: 0, response_format: { type: 'text' }, top_logprobs: 0, stop: null };
    expect((await post({ messages, ...nothing, user: 'me', metadata: {} })).status).toBe(200);
  });

  it('ends a reply before the first text of stop, then without tokens', async () => {
    const { post } = await setUp();
    const all = { logprobs: true, return_token_ids: true };
    const cut = await jsonOf(post({ messages, ...all, stop: ['()', 'wait'] }));
    expect(cut.choices[0]).toMatchObject({ message: { content: 'Action: ' }, finish_reason: 'stop', token_ids: [] });
    const whole = await jsonOf(post({ messages, ...all, stop: '<|im_end|>' }));
    expect(whole.choices[0]).toMatchObject({ message: { content: 'Action: wait()' }, token_ids: [4, 5] });
  });

  it('says only the text to those who ask for no more, and takes OpenAI’s defaults', async () => {
    const { policy, post } = await setUp();
    const { choices } = await jsonOf(post({ messages }));
    expect(choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'Action: wait()' }, logprobs: null, finish_reason: 'stop' },
    ]);
    expect(policy.asked[0]!.sampling).toEqual({ temperature: 1 });
    await post({ messages, top_k: -1, max_completion_tokens: 9 });
    expect(policy.asked[1]!.sampling).toEqual({ temperature: 1, max_tokens: 9 });
  });

  it('streams the same as server-sent events', async () => {
    const { post } = await setUp();
    const asked = {
      messages,
      stream: true,
      stream_options: { include_usage: true },
      logprobs: true,
      return_token_ids: true,
    };
    const response = await post(asked);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    expect(events.every((event) => event.startsWith('data: '))).toBe(true);
    expect(events.at(-1)).toBe('data: [DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)));
    expect(chunks.map(({ object }) => object)).toEqual(Array(4).fill('chat.completion.chunk'));
    expect(chunks.flatMap(({ choices }) => choices).map(({ delta, finish_reason }) => [delta, finish_reason])).toEqual([
      [{ role: 'assistant', content: '' }, null],
      [{ content: 'Action: wait()' }, null],
      [{}, 'stop'],
    ]);
    expect(chunks[1].choices[0]).toMatchObject({ token_ids: [4, 5], logprobs: { content: [{ logprob: -0.5 }, {}] } });
    expect(chunks[3]).toMatchObject({ choices: [], usage: { completion_tokens: 2 } });
  });

  it.each([
    ['no JSON', 'nonsense', 400, 'the body is no JSON'],
    ['no messages', { model: 'told' }, 400, 'messages: '],
    ['another model', { model: 'gpt', messages }, 404, 'there is no model "gpt" here, only "told"'],
    ['two replies', { messages, n: 2 }, 400, 'n: one reply'],
    ['no screenshot', { messages: [{ role: 'user', content: 'x' }] }, 400, 'no screenshot'],
    ['a top_p of 2', { messages, top_p: 2 }, 400, 'top_p: '],
  ])('refuses %s', async (_, body, status, message) => {
    const { post, policy } = await setUp();
    const response = await post(body);
    expect(response.status).toBe(status);
    expect((await jsonOf(response)).error.message).toContain(message);
    expect(policy.asked).toEqual([]);
  });

  it('refuses screens that the policy cannot read, before they reach it', async () => {
    const small = await setUp({ screen: { width: 160, height: 120 } });
    const response = await small.post({ messages });
    expect([response.status, (await jsonOf(response)).error.message]).toEqual([
      400,
      'the screen has 2×1 pixels, and the policy reads 160×120',
    ]);
    const exact = await setUp({ screen: { width: 2, height: 1 } });
    const torn = `data:image/png;base64,${Buffer.from(png.subarray(0, 40)).toString('base64')}`;
    const user = {
      role: 'user',
      content: [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: torn } },
      ],
    };
    expect(await jsonOf(exact.post({ messages: [user] }))).toMatchObject({ error: { code: 400 } });
    expect([small.policy.asked, exact.policy.asked]).toEqual([[], []]);
  });

  it('tells a failure from an end, and a client who left from both', async () => {
    const { post, policy, service } = await setUp();
    policy.answer = async () => {
      throw new Error('out of memory');
    };
    const failed = await post({ messages });
    expect([failed.status, (await jsonOf(failed)).error.message]).toEqual([500, 'out of memory']);
    await post({ messages });
    const over = await post({ messages });
    expect([over.status, over.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await jsonOf(over)).error.message).toContain('no policy worker is left');
    expect((await fetch(`${service.url}/health`)).status).toBe(503);
    expect(service.metrics).toMatchObject({ answered: 0, failed: 3 });
  });

  it('abandons a request whose client has left, and holds it against no worker', async () => {
    const { policy, pool, service } = await setUp();
    const heard = new Promise<void>((resolve) => {
      policy.answer = ({ signal }) =>
        new Promise((_, reject) => {
          signal!.addEventListener('abort', () => reject(signal!.reason));
          resolve();
        });
    });
    const leave = new AbortController();
    const body = JSON.stringify({ messages });
    const headers = { 'content-type': 'application/json' };
    const asked = fetch(`${service.url}/v1/chat/completions`, { method: 'POST', headers, body, signal: leave.signal });
    await heard;
    leave.abort();
    await expect(asked).rejects.toThrow();
    while (service.metrics.abandoned === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(pool.workers).toMatchObject([{ state: 'serving', inFlight: 0 }]);
  });

  it('tells those who are too many to come again', async () => {
    const { post, policy } = await setUp({ maxRequests: 1 });
    let open: (reply: PolicyReply) => void = () => {};
    policy.answer = () => new Promise((resolve) => (open = resolve));
    const first = post({ messages });
    while (policy.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    const second = await post({ messages });
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1']);
    open(REPLY);
    expect((await first).status).toBe(200);
  });
});

describe('who may ask', () => {
  it('is who bears the token, where there is one', async () => {
    const { post, service } = await setUp({ token: 'open sesame' });
    expect((await post({ messages })).status).toBe(401);
    expect((await post({ messages }, { authorization: 'Bearer open' })).status).toBe(401);
    expect((await post({ messages }, { authorization: 'Bearer open sesame' })).status).toBe(200);
    for (const path of ['/v1/models', '/metrics']) expect((await fetch(service.url + path)).status).toBe(401);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
  });

  it('is without one no page of a browser', async () => {
    const { post, service } = await setUp();
    expect((await post({ messages }, { 'content-type': 'text/plain' })).status).toBe(415);
    const status = await new Promise<number>((resolve) => {
      httpRequest(`${service.url}/v1/models`, { headers: { host: 'evil.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      }).end();
    });
    expect(status).toBe(403);
  });
});

describe('what it says of itself', () => {
  it('is its model, its version, and what it does', async () => {
    const { post, service } = await setUp();
    await post({ messages });
    await post({ messages, n: 3 });
    const get = async (path: string) => (await fetch(service.url + path)).text();
    expect(JSON.parse(await get('/v1/models')).data).toMatchObject([
      { id: 'told', owned_by: 'dart', coordinates: 'absolute' },
    ]);
    expect(JSON.parse(await get('/get_model_info'))).toMatchObject({ weight_version: '3' });
    const lines = (await get('/metrics')).split('\n');
    for (const line of [
      'dart_rollout_requests_running 0',
      'dart_rollout_requests_waiting 0',
      'dart_rollout_requests_total{result="answered"} 1',
      'dart_rollout_requests_total{result="refused"} 1',
      'dart_rollout_reply_tokens_total 2',
      'dart_rollout_worker_up{worker="told-0"} 1',
      'dart_rollout_worker_version{worker="told-0"} 3',
      '# TYPE dart_rollout_requests_total counter',
    ]) {
      expect(lines).toContain(line);
    }
    expect((await fetch(`${service.url}/v2/x`)).status).toBe(404);
  });
});

describe('POST /update_weights_from_disk', () => {
  const order = (version: string, path = 'v/4') => ({ model_path: path, weight_version: version });
  const path = '/update_weights_from_disk';

  it('is refused unless it was allowed', async () => {
    const { post, policy } = await setUp();
    expect((await post(order('4'), {}, path)).status).toBe(403);
    expect(policy.loads).toEqual([]);
  });

  it('brings the workers to the version, or says why not', async () => {
    const { post, policy } = await setUp({ updates: true });
    const say = async (body: unknown) => jsonOf(post(body, {}, path));
    expect(await say(order('4'))).toEqual({ success: true, message: 'version 4 is loaded' });
    expect(policy.loads).toEqual([[4, 'v/4']]);
    expect(await say(order('5', 'broken'))).toEqual({ success: false, message: 'broken cannot be loaded' });
    expect(await say(order('2'))).toMatchObject({
      success: false,
      message: 'version 4 is here already, which is newer than 2',
    });
    expect((await say(order('../../x'))).error.message).toContain('wanted:');
  });
});
