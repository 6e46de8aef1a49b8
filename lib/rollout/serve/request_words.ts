import { TEMPERATURES } from '../../stream/temperature.ts';
import { badRequest } from './refusal.ts';

/** What each field must be, for those who got it wrong. */
const WANTED: Readonly<Record<string, string>> = {
  model: 'a text',
  messages: 'a list of at least one message, each with a role and a content: a text, or a list of parts',
  temperature: `a number: ${TEMPERATURES}`,
  top_p: 'a number above 0, up to 1',
  top_k: 'a whole number, or -1 for none',
  max_tokens: 'a whole number above 0',
  max_completion_tokens: 'a whole number above 0',
  seed: 'a whole number',
  n: 'a whole number',
  stop: 'a text, or a list of texts',
  stream_options: 'an object',
};

/** @param path of the field that cannot be read. */
export function wantedWords(path: readonly PropertyKey[]): string {
  const field = String(path[0] ?? '');
  if (field === '') return 'the body must be an object with messages';
  return `${path.join('.')}: ${field} must be ${WANTED[field] ?? 'true or false'}`;
}

/**
 * Fields that would change the reply and that no policy here heeds, each with the values that change nothing. All other
 * fields that are not known are ignored: they say nothing of the reply.
 */
const NOT_HEEDED: Readonly<Record<string, (value: unknown) => boolean>> = {
  tools: isEmpty,
  functions: isEmpty,
  tool_choice: (value) => value === 'none' || value === 'auto',
  function_call: (value) => value === 'none' || value === 'auto',
  response_format: (value) => (value as { type?: unknown }).type === 'text',
  presence_penalty: (value) => value === 0,
  frequency_penalty: (value) => value === 0,
  repetition_penalty: (value) => value === 1,
  min_p: (value) => value === 0,
  min_tokens: (value) => value === 0,
  top_logprobs: (value) => value === 0,
  logit_bias: isEmpty,
  guided_json: () => false,
  guided_regex: () => false,
  guided_choice: () => false,
  guided_grammar: () => false,
  structured_outputs: () => false,
  stop_token_ids: isEmpty,
  ignore_eos: (value) => value === false,
  echo: (value) => value === false,
  modalities: (value) => JSON.stringify(value) === '["text"]',
};

/** @throws Refusal for what is asked and would not be done. */
export function refuseUnhonoured(asked: Readonly<Record<string, unknown>>): void {
  const field = Object.keys(NOT_HEEDED).find((name) => {
    const value = asked[name];
    return value !== undefined && value !== null && !NOT_HEEDED[name]!(value);
  });
  if (field !== undefined) throw badRequest(`${field} is not heeded here: leave it out`);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
