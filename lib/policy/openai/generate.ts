import { z } from 'zod';
import type { PolicyRequest } from '../policy.ts';
import { type ServerAnswer, versionIn } from './answer.ts';
import { ServerFailure } from './failure.ts';
import type { ImagePart, Message, TextPart } from './prompt.ts';
import { matchTokens } from './tokens.ts';

const answerSchema = z.looseObject({
  text: z.string().nullish(),
  output_ids: z.array(z.unknown()).nullish(),
  meta_info: z.looseObject({
    finish_reason: z.looseObject({ type: z.string() }).nullish(),
    completion_tokens: z.number().nullish(),
    /** `[log-probability, id, text]` a token. */
    output_token_logprobs: z.array(z.array(z.unknown()).min(2)).nullish(),
  }),
});

/** SGLang's own API: a prompt in the model's chat template, and each token as `[log-probability, id, text]`. */
export const generate = {
  path: '/generate',
  optional: ['sampling_seed'],

  body(
    messages: readonly Message[],
    _model: string,
    request: Pick<PolicyRequest, 'sampling' | 'seed'>,
    maxTokens: number,
  ) {
    const { temperature, top_p, top_k } = request.sampling;
    return {
      text: chatMl(messages),
      image_data: imagesOf(messages),
      sampling_params: {
        temperature,
        ...(top_p === undefined ? {} : { top_p }),
        ...(top_k === undefined ? {} : { top_k }),
        max_new_tokens: maxTokens,
        sampling_seed: request.seed,
      },
      return_logprob: true,
      logprob_start_len: -1,
    };
  },

  /** @throws ServerFailure for what is no whole reply. */
  read(answer: unknown, where: string): ServerAnswer {
    const parsed = answerSchema.safeParse(answer);
    if (!parsed.success)
      throw new ServerFailure('broken', "the answer is not what SGLang's /generate gives", { where });
    const { text, output_ids, meta_info } = parsed.data;
    const scored = meta_info.output_token_logprobs ?? null;
    const ids = scored ? scored.map((token) => token[1]) : (output_ids ?? null);
    const counted = meta_info.completion_tokens ?? output_ids?.length ?? null;
    return {
      text: text ?? null,
      finishReason: meta_info.finish_reason?.type ?? null,
      ...matchTokens(ids, scored?.map((token) => token[0]) ?? null, counted),
      version: versionIn(meta_info),
    };
  },
};

/** The chat template of Qwen2-VL and Qwen2.5-VL, on which UI-TARS is built; an image stands where its marks are. */
export function chatMl(messages: readonly Message[]): string {
  const turns = messages.map(({ role, content }) => `<|im_start|>${role}\n${textOf(content)}<|im_end|>\n`);
  return `${turns.join('')}<|im_start|>assistant\n`;
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => (part.type === 'text' ? part.text : '<|vision_start|><|image_pad|><|vision_end|>'))
    .join('');
}

function imagesOf(messages: readonly Message[]): string[] {
  const parts = messages.flatMap(({ content }): (TextPart | ImagePart)[] =>
    typeof content === 'string' ? [] : content,
  );
  return parts.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
}
