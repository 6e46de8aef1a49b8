import { afterEach, describe, expect, it } from 'vitest';
import type { Frame } from '../../guest/guest.ts';
import type { PolicyRequest } from '../policy.ts';
import { someRequest } from '../request.testing.ts';
import { describeServer } from './describe.ts';
import {
  answers,
  type Behaviour,
  breaksOff,
  drips,
  FakeServer,
  halfJson,
  hangs,
  resets,
} from './fake_server.testing.ts';
import { openServers } from './open.ts';
import { ServerPolicy, type ServerPolicyOptions } from './server_policy.ts';
import { parseServerSpec } from './server_spec.ts';
import { IDS, LOGPROBS, modelsOf, sglangCompletion, sglangGenerate, TEXT, vllmCompletion } from './shapes.testing.ts';

const CHAT = '/v1/chat/completions';
const frame: Frame = {
  width: 2,
  height: 1,
  rgb: () => new Uint8Array(6),
  png: () => new Uint8Array([137, 80, 78, 71]),
};
const request = (more: Partial<PolicyRequest> = {}) => someRequest({ frames: [frame], seed: 7, ...more });

const running: FakeServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function setUp(script: Behaviour | Behaviour[], more: Partial<ServerPolicyOptions> = {}) {
  const path = more.api === 'generate' ? '/generate' : CHAT;
  const server = await FakeServer.start({ [path]: script });
  running.push(server);
  const warnings: string[] = [];
  const policy = new ServerPolicy({
    ...{ url: server.url, api: 'chat', engine: 'vllm', model: 'ui-tars', coordinates: 'absolute', timeoutMs: 60_000 },
    ...{ retry: { tries: 3, firstPauseMs: 1, longestPauseMs: 20 } },
    warn: (message) => warnings.push(message.replace(`${server.url}: `, '')),
    ...more,
  });
  const asked = () => server.to(path);
  return { server, policy, warnings, asked };
}

describe('a reply of vLLM', () => {
  it('comes with the ids and log-probabilities of its tokens', async () => {
    const { policy, asked, warnings } = await setUp(answers(vllmCompletion()), { version: 3, apiKey: 'secret' });
    const sampling = { temperature: 0.5, top_p: 0.9, top_k: 20, max_tokens: 64 };
    expect(await policy.act(request({ sampling, instruction: 'open it' }))).toEqual({
      text: TEXT,
      tokenIds: IDS,
      logprobs: LOGPROBS,
      finishReason: 'stop',
      modelVersion: 3,
      promptTokenIds: [151644, 8948, 198],
    });
    const { body, headers } = asked()[0]!;
    expect(headers.authorization).toBe('Bearer secret');
    const { messages, ...rest } = body;
    expect(rest).toEqual({
      ...{ model: 'ui-tars', temperature: 0.5, top_p: 0.9, top_k: 20, max_tokens: 64, seed: 7 },
      ...{ logprobs: true, top_logprobs: 0, return_token_ids: true, return_tokens_as_token_ids: true },
    });
    expect(messages.at(-1).content[0].image_url.url).toBe('data:image/png;base64,iVBORw==');
    expect(warnings).toEqual([]);
  });

  it('has ids in its token texts where the server gives no list of them', async () => {
    const { policy } = await setUp(answers(vllmCompletion({ choice: { token_ids: null } })));
    expect(await policy.act(request())).toMatchObject({ tokenIds: IDS, logprobs: LOGPROBS });
  });

  it('has no tokens where the server gives neither, and that is told once', async () => {
    const { policy, warnings } = await setUp(answers(sglangCompletion('default')), { version: 2 });
    for (let i = 0; i < 2; i++) {
      expect(await policy.act(request())).toMatchObject({ text: TEXT, tokenIds: [], logprobs: [], modelVersion: 2 });
    }
    expect(warnings).toEqual([expect.stringContaining('no token ids')]);
  });

  it.each([
    ['null', 'null'],
    ['NaN', 'NaN'],
    ['-Infinity', '-Infinity'],
    ['-9999.0', '-9999.0'],
    ['1.5', '1.5'],
  ])('has an unscored token where the log-probability is %s', async (_, written) => {
    const text = JSON.stringify(vllmCompletion()).replaceAll('"logprob":-0.5', `"logprob":${written}`);
    const { policy } = await setUp(answers(text));
    expect((await policy.act(request())).logprobs).toEqual([-0.25, null, -1.5, -0.125]);
  });

  it.each([
    [
      'fewer ids than log-probabilities',
      vllmCompletion({ choice: { token_ids: IDS.slice(1) }, usage: { completion_tokens: 3 } }),
      3,
    ],
    ['another number than was counted', vllmCompletion({ usage: { completion_tokens: 5 } }), 4],
    ['no log-probabilities', vllmCompletion({ choice: { logprobs: null } }), 4],
  ])('is wholly unscored where there are %s', async (_, completion, tokens) => {
    const { policy, warnings } = await setUp(answers(completion));
    const reply = await policy.act(request());
    expect([reply.text, reply.tokenIds.length, reply.logprobs]).toEqual([TEXT, tokens, Array(tokens).fill(null)]);
    expect(warnings).toHaveLength(1);
  });

  it('is a whole one at its token limit, and says so', async () => {
    const { policy } = await setUp(answers(vllmCompletion({ choice: { finish_reason: 'length' } })));
    expect((await policy.act(request())).finishReason).toBe('length');
  });

  it('is asked for without a field that the server does not know, from then on', async () => {
    const complaint = (field: string) =>
      answers(
        { error: { message: `Unrecognized request argument supplied: ${field}`, type: 'invalid_request_error' } },
        400,
      );
    const { policy, asked, warnings } = await setUp([
      complaint('return_token_ids'),
      complaint('return_tokens_as_token_ids'),
      answers(sglangCompletion('default')),
    ]);
    await policy.act(request());
    await policy.act(request());
    const fields = asked().map(
      ({ body }) => ['return_token_ids', 'return_tokens_as_token_ids'].filter((name) => name in body).length,
    );
    expect(fields).toEqual([2, 1, 0, 0]);
    expect(warnings.slice(0, 2)).toEqual([
      'it does not know return_token_ids, and is asked without it',
      'it does not know return_tokens_as_token_ids, and is asked without it',
    ]);
  });
});

describe('a reply of SGLang', () => {
  it('comes from /generate with a prompt in ChatML and the version of its weights', async () => {
    const { policy, asked } = await setUp(answers(sglangGenerate({ weight_version: '12' })), {
      api: 'generate',
      engine: 'sglang',
    });
    expect(await policy.act(request({ sampling: { temperature: 1, top_k: 5 } }))).toEqual({
      ...{ text: TEXT, tokenIds: IDS, logprobs: LOGPROBS, finishReason: 'stop', modelVersion: 12 },
    });
    expect(policy.version).toBe(12);
    const { body } = asked()[0]!;
    expect(body.sampling_params).toEqual({ temperature: 1, top_k: 5, max_new_tokens: 500, sampling_seed: 7 });
    expect(body.image_data).toEqual(['data:image/png;base64,iVBORw==']);
    expect(body.text).toMatch(/^<\|im_start\|>system\n/);
    expect(body.return_logprob).toBe(true);
  });

  it('without a version of its own has the one that was loaded', async () => {
    const { policy } = await setUp(answers(sglangGenerate()), { api: 'generate', version: 4 });
    policy.became(5);
    expect((await policy.act(request())).modelVersion).toBe(5);
  });

  it('says its version in chat completions too', async () => {
    const { policy } = await setUp(answers(sglangCompletion('9')));
    expect((await policy.act(request())).modelVersion).toBe(9);
  });

  it('counts null log-probabilities as unscored, and is asked again when it was aborted', async () => {
    const tokens = [[null, IDS[0], null], ...IDS.slice(1).map((id) => [-1, id, null])];
    const { policy, asked } = await setUp(
      [
        answers(
          sglangGenerate(
            { finish_reason: { type: 'abort', message: 'Abort in waiting queue' } },
            { text: 'Action: fin' },
          ),
        ),
        answers(sglangGenerate({ output_token_logprobs: tokens })),
      ],
      { api: 'generate' },
    );
    expect((await policy.act(request())).logprobs).toEqual([null, -1, -1, -1]);
    expect(asked()).toHaveLength(2);
  });

  it('is asked for without the seed where sampling_params have none', async () => {
    const { policy, asked } = await setUp(
      [answers({ error: { message: "unexpected keyword argument 'sampling_seed'" } }, 400), answers(sglangGenerate())],
      { api: 'generate' },
    );
    await policy.act(request());
    expect(asked()[1]!.body.sampling_params).toEqual({ temperature: 1, max_new_tokens: 500 });
  });
});

describe('a server that refuses fields by name', () => {
  const refusals: [field: string, message: string][] = [
    ['return_token_ids', 'Unrecognized request argument supplied: return_token_ids'],
    ['seed', 'Extra inputs are not permitted: seed'],
  ];
  const strict: Behaviour = (response, asked) => {
    const refused = refusals.find(([field]) => field in asked.body);
    if (refused) answers({ error: { message: refused[1] } }, 400)(response, asked);
    else answers(vllmCompletion())(response, asked);
  };

  it('gets every request again without them, also those that were under way together', async () => {
    const warned: string[] = [];
    // All that come with a field that it does not know are answered together, when all eight are there.
    const held: (() => void)[] = [];
    const together: Behaviour = (response, asked) => {
      if (!('return_token_ids' in asked.body)) return strict(response, asked);
      held.push(() => strict(response, asked));
      if (held.length === 8) for (const answer of held) answer();
    };
    const { policy, asked } = await setUp(together, { warn: (message) => warned.push(message) });
    const replies = await Promise.all(Array.from({ length: 8 }, () => policy.act(request())));
    expect(replies.map(({ text }) => text)).toEqual(Array(8).fill(TEXT));
    expect(asked().filter(({ body }) => 'return_token_ids' in body)).toHaveLength(8);
    const before = asked().length;
    await policy.act(request());
    expect(asked()).toHaveLength(before + 1);
    expect(warned.filter((message) => message.includes('it does not know'))).toHaveLength(2);
  });

  it('ends at a refusal of what was not sent', async () => {
    const { policy, asked } = await setUp(answers({ error: { message: 'seed: not here' } }, 400));
    await expect(policy.act(request())).rejects.toThrow('seed: not here');
    expect(asked()).toHaveLength(2);
  });
});

describe('a server in trouble', () => {
  const whole = answers(vllmCompletion());

  it.each([
    ['answers 500', answers('{"error":{"message":"CUDA error"}}', 500)],
    ['resets the connection', resets],
    ['breaks off in the middle', breaksOff],
    ['sends half a JSON', halfJson],
    ['is busy (429)', answers('', 429, { 'retry-after': '0' })],
    ['is starting (503)', answers('', 503)],
    [
      'aborts the reply',
      answers(vllmCompletion({ choice: { finish_reason: 'abort', message: { content: 'Action: finished()' } } })),
    ],
    ['says no reason for the end', answers(vllmCompletion({ choice: { finish_reason: null } }))],
    ['gives no choice', answers({ choices: [] })],
  ])('%s: is asked again, three times in all', async (_, trouble) => {
    const once = await setUp([trouble, whole]);
    expect((await once.policy.act(request())).text).toBe(TEXT);
    expect(once.asked()).toHaveLength(2);
    const always = await setUp(trouble);
    await expect(always.policy.act(request())).rejects.toMatchObject({ name: 'ServerFailure' });
    expect(always.asked()).toHaveLength(3);
  });

  it.each([
    ['hangs', hangs],
    ['drips', drips],
  ])('%s: is given up after the time limit, and not asked again', async (_, trouble) => {
    const { policy, asked } = await setUp(trouble, { timeoutMs: 60 });
    await expect(policy.act(request())).rejects.toMatchObject({
      kind: 'timeout',
      message: 'no whole answer within 0.06 s',
    });
    // On a busy machine the time may be over before the server hears of the request.
    expect(asked().length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['400', answers({ message: 'max_tokens is too large' }, 400), 'status 400: max_tokens is too large'],
    ['401', answers({ error: 'Unauthorized' }, 401), 'status 401: Unauthorized'],
    ['404', answers({ detail: 'Not Found' }, 404), 'status 404: Not Found'],
    [
      'a page',
      answers('<!DOCTYPE html><html><head><style>a{}</style></head><body><h1>Please  log in</h1></body></html>'),
      'the answer is a web page: Please log in',
    ],
    [
      'a page with status 404',
      answers('<html><title>Not here</title></html>', 404),
      'status 404: a web page: Not here',
    ],
    ['a call of a tool', answers(vllmCompletion({ choice: { finish_reason: 'tool_calls' } })), 'ended with tool_calls'],
    ['no text', answers(vllmCompletion({ choice: { message: { content: null } } })), 'the reply has no text'],
  ])('that answers %s is not asked again', async (_, trouble, message) => {
    const { policy, asked } = await setUp(trouble);
    await expect(policy.act(request())).rejects.toThrow(message);
    expect(asked()).toHaveLength(1);
  });

  it('keeps its words where it says an error with status 200', async () => {
    const { policy } = await setUp(answers({ object: 'error', error: { message: 'CUDA out of memory' } }));
    await expect(policy.act(request())).rejects.toThrow('an error with status 200: CUDA out of memory');
  });

  it('that is gone is not waited for here', async () => {
    const { policy, server } = await setUp(whole);
    await server.close();
    await expect(policy.act(request())).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'nobody answers there (ECONNREFUSED)',
    });
  });

  it('never has its key told', async () => {
    const { policy } = await setUp(answers('no such key', 401), { apiKey: 'sk-very-secret' });
    const error = await policy.act(request()).catch((reason: Error) => reason);
    expect(JSON.stringify(error) + String(error)).not.toContain('sk-very-secret');
  });

  it('is left at once when the rollout is abandoned', async () => {
    const { policy } = await setUp(hangs, { timeoutMs: 60_000 });
    const stop = new AbortController();
    const reply = policy.act(request({ signal: stop.signal }));
    setTimeout(() => stop.abort(new Error('enough')), 20);
    await expect(reply).rejects.toThrow('enough');
  });
});

describe('sglang: where there is no /generate', () => {
  it.each([
    ['dart', 'dart-rollout serve answers there'],
    ['vllm', 'vLLM answers there'],
  ])('of %s is refused before a rollout begins', async (owner, message) => {
    const server = await FakeServer.start({ '/v1/models': answers(modelsOf(owner)) });
    running.push(server);
    await expect(openServers(parseServerSpec(`sglang:${server.url}`))).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: `--policy openai:${server.url}/v1`,
    });
  });
});

describe('describeServer', () => {
  it('tells engines apart, and asks those that have one for the version of their weights', async () => {
    const of = async (owner: string, scripts: Record<string, Behaviour> = {}) => {
      const server = await FakeServer.start({ '/v1/models': answers(modelsOf(owner)), ...scripts });
      running.push(server);
      return describeServer(server.url, { timeoutMs: 60_000 });
    };
    const none = { coordinates: null, version: null };
    expect(await of('vllm')).toEqual({ engine: 'vllm', model: 'ui-tars', ...none });
    expect(await of('openai')).toEqual({ engine: 'other', model: 'ui-tars', ...none });
    const info = answers({ model_path: '/models/ui-tars', weight_version: '6' });
    expect(await of('sglang', { '/get_model_info': info })).toEqual({
      engine: 'sglang',
      model: 'ui-tars',
      ...none,
      version: 6,
    });
    expect(await of('sglang')).toMatchObject({ version: null });
  });
});
