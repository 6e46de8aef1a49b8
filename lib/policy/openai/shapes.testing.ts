/**
 * Answers in the shapes that vLLM and SGLang document, written by hand: they were not recorded from a running server.
 * The four tokens say `Action: wait()` and end the turn.
 */
const TOKENS = [
  { id: 2512, text: 'Action', logprob: -0.25 },
  { id: 25, text: ': ', logprob: -0.5 },
  { id: 11489, text: 'wait()', logprob: -1.5 },
  { id: 151645, text: '<|im_end|>', logprob: -0.125 },
] as const;

export const IDS = TOKENS.map(({ id }) => id);
export const LOGPROBS = TOKENS.map(({ logprob }) => logprob);
export const TEXT = 'Action: wait()';

type Json = Record<string, unknown>;

/** vLLM's chat completion with `logprobs`, `return_token_ids` and `return_tokens_as_token_ids`. */
export function vllmCompletion(changes: { choice?: Json; usage?: Json; top?: Json } = {}): Json {
  return {
    id: 'chatcmpl-8f4f2c1f0d1b4a3e',
    object: 'chat.completion',
    created: 1764000000,
    model: 'ui-tars',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: TEXT, refusal: null, tool_calls: [], reasoning_content: null },
        logprobs: {
          content: TOKENS.map(({ id, logprob, text }) => ({
            token: `token_id:${id}`,
            logprob,
            bytes: [...Buffer.from(text)],
            top_logprobs: [],
          })),
        },
        finish_reason: 'stop',
        stop_reason: null,
        token_ids: IDS,
        ...changes.choice,
      },
    ],
    service_tier: null,
    system_fingerprint: null,
    usage: { prompt_tokens: 3, total_tokens: 7, completion_tokens: 4, prompt_tokens_details: null, ...changes.usage },
    prompt_logprobs: null,
    prompt_token_ids: [151644, 8948, 198],
    kv_transfer_params: null,
    ...changes.top,
  };
}

/** SGLang's chat completion: token texts but no ids; the version of the weights in `metadata`. */
export function sglangCompletion(version: string): Json {
  return {
    id: 'b6f0c7d2a9',
    object: 'chat.completion',
    created: 1764000000,
    model: 'ui-tars',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: TEXT, reasoning_content: null, tool_calls: null },
        logprobs: {
          content: TOKENS.map(({ logprob, text }) => ({
            token: text,
            bytes: [...Buffer.from(text)],
            logprob,
            top_logprobs: [],
          })),
        },
        finish_reason: 'stop',
        matched_stop: 151645,
      },
    ],
    usage: {
      prompt_tokens: 3,
      total_tokens: 7,
      completion_tokens: 4,
      prompt_tokens_details: null,
      reasoning_tokens: 0,
    },
    metadata: { weight_version: version },
  };
}

/** SGLang's `/generate` with `return_logprob`. */
export function sglangGenerate(meta: Json = {}, top: Json = {}): Json {
  return {
    text: TEXT,
    output_ids: IDS,
    meta_info: {
      id: '2d1f4c0d5e',
      finish_reason: { type: 'stop', matched: 151645 },
      prompt_tokens: 3,
      weight_version: 'default',
      completion_tokens: 4,
      cached_tokens: 0,
      e2e_latency: 0.41,
      input_token_logprobs: [],
      output_token_logprobs: TOKENS.map(({ id, logprob }) => [logprob, id, null]),
      ...meta,
    },
    ...top,
  };
}

/** `/v1/models` as each engine says it. */
export function modelsOf(owned_by: string, more: Json = {}): Json {
  return {
    object: 'list',
    data: [
      { id: 'ui-tars', object: 'model', created: 1764000000, owned_by, root: 'ui-tars', max_model_len: 32768, ...more },
    ],
  };
}
