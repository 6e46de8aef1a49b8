import { z } from 'zod';
import { messageOf } from '../../errors.ts';
import type { Size } from '../../guest/guest.ts';
import { readPrompt } from '../../policy/openai/read_prompt.ts';
import type { PolicyRequest } from '../../policy/policy.ts';
import { samplingTemperature } from '../../stream/numbers.ts';
import type { Task } from '../../stream/records.ts';
import { badRequest, Refusal } from './refusal.ts';
import { refuseUnhonoured, wantedWords } from './request_words.ts';

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.union([z.string(), z.looseObject({ url: z.string() })]).optional(),
});
const requestSchema = z.looseObject({
  model: z.string().nullish(),
  messages: z
    .array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(partSchema)]).nullish() }))
    .min(1),
  temperature: samplingTemperature().nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  /** −1 is vLLM's way to say none. */
  top_k: z.number().int().min(-1).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  seed: z.number().int().nullish(),
  n: z.number().int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  logprobs: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
  return_entropies: z.boolean().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
});

/** What is to be in the answer besides the text. */
export interface AnswerForm {
  stream: boolean;
  includeUsage: boolean;
  logprobs: boolean;
  tokenIds: boolean;
  entropies: boolean;
  /** The reply ends before the first of these. */
  stop: readonly string[];
}

export interface ChatRequest {
  request: PolicyRequest;
  form: AnswerForm;
}

/** What a policy that is served knows of the task: nothing but its instruction. */
function taskOf(instruction: string): Task {
  const nothing = { func: 'infeasible' };
  return { type: 'task', v: 1, task_id: 'served', id: 'served', domain: 'served', instruction, evaluator: nothing };
}

/**
 * The body of a chat completion as a request of a policy.
 * @param served the name of the model, and the size of screen that it reads where it reads only one.
 * @throws Refusal with 400 for what cannot be read, 404 for another model.
 */
export function readChatRequest(
  body: unknown,
  served: { model: string; screen?: Size },
  signal: AbortSignal,
): ChatRequest {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) {
    throw badRequest(wantedWords(parsed.error.issues[0]!.path));
  }
  const asked = parsed.data;
  refuseUnhonoured(asked);
  if (asked.model && asked.model !== served.model) {
    throw new Refusal(404, 'not_found_error', `there is no model "${asked.model}" here, only "${served.model}"`);
  }
  if ((asked.n ?? 1) !== 1) throw badRequest('n: one reply a request');
  const prompt = promptOf(asked.messages);
  const frame = prompt.frames.at(-1)!;
  const screen = { width: frame.width, height: frame.height };
  checkScreen(frame, served.screen);
  const maxTokens = asked.max_completion_tokens ?? asked.max_tokens;
  return {
    request: {
      ...prompt,
      task: taskOf(prompt.instruction),
      screen,
      stepIndex: prompt.history.length,
      maxSteps: prompt.history.length + 1,
      seed: asked.seed ?? Math.floor(Math.random() * 2 ** 32),
      sampling: {
        temperature: asked.temperature ?? 1,
        ...(asked.top_p == null ? {} : { top_p: asked.top_p }),
        ...(asked.top_k == null || asked.top_k < 1 ? {} : { top_k: asked.top_k }),
        ...(maxTokens == null ? {} : { max_tokens: maxTokens }),
      },
      accessibility: async () => {
        throw badRequest('a served policy sees screens only, no accessibility tree');
      },
      signal,
    },
    form: {
      stream: asked.stream ?? false,
      includeUsage: asked.stream_options?.include_usage ?? false,
      logprobs: asked.logprobs ?? false,
      tokenIds: asked.return_token_ids ?? false,
      entropies: asked.return_entropies ?? false,
      stop: [asked.stop ?? []].flat().filter((text) => text !== ''),
    },
  };
}

function promptOf(messages: Parameters<typeof readPrompt>[0]) {
  try {
    return readPrompt(messages);
  } catch (error) {
    throw badRequest(messageOf(error));
  }
}

/** Pixels are decoded here, where a broken picture is still the fault of this one request. */
function checkScreen(frame: { width: number; height: number; rgb(): Uint8Array }, wanted: Size | undefined): void {
  if (!wanted) return;
  if (frame.width !== wanted.width || frame.height !== wanted.height) {
    throw badRequest(
      `the screen has ${frame.width}×${frame.height} pixels, and the policy reads ${wanted.width}×${wanted.height}`,
    );
  }
  try {
    frame.rgb();
  } catch (error) {
    throw badRequest(`the screen cannot be decoded: ${messageOf(error)}`);
  }
}
