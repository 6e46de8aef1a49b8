import { z } from 'zod';
import type { PolicyRequest } from '../policy.ts';
import { type ServerAnswer, versionIn } from './answer.ts';
import { ServerFailure } from './failure.ts';
import type { Message } from './prompt.ts';
import { idInToken, matchTokens } from './tokens.ts';

/** Asked for so that replies can be learned from; a server that knows one of them not is asked without it. */
const OPTIONAL = [
  'return_token_ids',
  'return_tokens_as_token_ids',
  'return_entropies',
  'top_logprobs',
  'logprobs',
  'seed',
];

const choiceSchema = z.looseObject({
  message: z.looseObject({ content: z.string().nullish() }).nullish(),
  finish_reason: z.string().nullish(),
  token_ids: z.array(z.unknown()).nullish(),
  entropies: z.array(z.number().nullable()).nullish(),
  logprobs: z
    .looseObject({
      content: z.array(z.looseObject({ token: z.unknown().optional(), logprob: z.unknown().optional() })).nullish(),
    })
    .nullish(),
});
const completionSchema = z.looseObject({
  choices: z.array(choiceSchema).min(1),
  usage: z.looseObject({ completion_tokens: z.number().nullish() }).nullish(),
  prompt_token_ids: z.array(z.number().int()).nullish(),
  metadata: z.unknown().optional(),
});

/** Chat completions, with what vLLM adds to say tokens: ids, or `token_id:N` in place of their text. */
export const chat = {
  path: '/v1/chat/completions',
  optional: OPTIONAL,

  /** @param own whether the server is one of ours, which knows exact entropies. */
  body(
    messages: readonly Message[],
    model: string,
    request: Pick<PolicyRequest, 'sampling' | 'seed'>,
    maxTokens: number,
    own: boolean,
  ) {
    const { temperature, top_p, top_k } = request.sampling;
    return {
      model,
      messages,
      temperature,
      ...(top_p === undefined ? {} : { top_p }),
      ...(top_k === undefined ? {} : { top_k }),
      max_tokens: maxTokens,
      seed: request.seed,
      logprobs: true,
      top_logprobs: 0,
      return_token_ids: true,
      return_tokens_as_token_ids: true,
      ...(own ? { return_entropies: true } : {}),
    };
  },

  /** @throws ServerFailure for what is no whole reply. */
  read(answer: unknown, where: string): ServerAnswer {
    const parsed = completionSchema.safeParse(answer);
    if (!parsed.success) throw new ServerFailure('broken', 'the answer is no chat completion', { where });
    const { choices, usage, prompt_token_ids } = parsed.data;
    const { message, finish_reason, token_ids, logprobs, entropies } = choices[0]!;
    const scored = logprobs?.content ?? null;
    const ids = token_ids ?? idsInTokens(scored);
    const matched = matchTokens(ids, scored?.map(({ logprob }) => logprob) ?? null, usage?.completion_tokens ?? null);
    return {
      text: message?.content ?? null,
      finishReason: finish_reason ?? null,
      ...matched,
      ...(entropies && entropies.length === matched.tokenIds.length ? { entropies } : {}),
      ...(prompt_token_ids ? { promptTokenIds: prompt_token_ids } : {}),
      version: versionIn(parsed.data) ?? versionIn(parsed.data.metadata),
    };
  },
};

function idsInTokens(scored: readonly { token?: unknown }[] | null): (number | null)[] | null {
  if (scored === null || scored.length === 0) return null;
  return scored.map(({ token }) => idInToken(token));
}
