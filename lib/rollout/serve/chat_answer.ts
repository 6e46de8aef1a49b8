import type { PolicyReply } from '../../policy/policy.ts';
import type { AnswerForm } from './chat_request.ts';

/** As vLLM writes a log-probability that it has not. */
const UNSCORED = -9999;

export interface AnswerHead {
  id: string;
  /** Seconds since 1970. */
  created: number;
  model: string;
}

/** A chat completion in vLLM's form; the version of the weights is where SGLang says it. */
export function completionOf(reply: PolicyReply, form: AnswerForm, head: AnswerHead): object {
  return {
    ...{ id: head.id, object: 'chat.completion', created: head.created, model: head.model },
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: reply.text },
        logprobs: form.logprobs ? { content: scoredTokens(reply) } : null,
        finish_reason: reply.finishReason,
        ...tokensOf(reply, form),
      },
    ],
    usage: usageOf(reply),
    ...(form.tokenIds ? { prompt_token_ids: reply.promptTokenIds ?? null } : {}),
    metadata: { weight_version: String(reply.modelVersion) },
  };
}

/** The same as the chunks of a stream. The reply is whole before it is sent, so that its text is one piece. */
export function chunksOf(reply: PolicyReply, form: AnswerForm, head: AnswerHead): object[] {
  const top = { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model };
  const chunk = (choice: object, more: object = {}) => ({ ...top, choices: [{ index: 0, ...choice }], ...more });
  const none = { logprobs: null, finish_reason: null };
  const prompt = form.tokenIds ? { prompt_token_ids: reply.promptTokenIds ?? null } : {};
  const logprobs = form.logprobs ? { content: scoredTokens(reply) } : null;
  return [
    chunk({ delta: { role: 'assistant', content: '' }, ...none }, prompt),
    chunk({ delta: { content: reply.text }, ...none, logprobs, ...tokensOf(reply, form) }),
    chunk(
      { delta: {}, ...none, finish_reason: reply.finishReason },
      { metadata: { weight_version: String(reply.modelVersion) } },
    ),
    ...(form.includeUsage ? [{ ...top, choices: [], usage: usageOf(reply) }] : []),
  ];
}

function scoredTokens({ tokenIds, logprobs }: PolicyReply): object[] {
  return tokenIds.map((id, index) => ({
    token: `token_id:${id}`,
    logprob: logprobs[index] ?? UNSCORED,
    bytes: null,
    top_logprobs: [],
  }));
}

function tokensOf(reply: PolicyReply, form: AnswerForm): object {
  return {
    ...(form.tokenIds ? { token_ids: reply.tokenIds } : {}),
    ...(form.entropies && reply.entropies ? { entropies: reply.entropies } : {}),
  };
}

function usageOf({ tokenIds, promptTokenIds }: PolicyReply) {
  const [prompt, completion] = [promptTokenIds?.length ?? 0, tokenIds.length];
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
