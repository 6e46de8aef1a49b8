import { DartError } from '../../errors.ts';
import type { Coordinates, Policy, PolicyReply, PolicyRequest } from '../policy.ts';
import { checkWhole } from './answer.ts';
import { callJson } from './call.ts';
import { chat } from './chat.ts';
import { ServerFailure } from './failure.ts';
import { generate } from './generate.ts';
import { promptOf } from './prompt.ts';
import { RETRY_DEFAULTS, type RetryOptions, withRetries } from './retry.ts';
import type { Api, Engine } from './server_spec.ts';
import type { TokenTrouble } from './tokens.ts';

/** As DART's; a server's own default may be a handful, or thousands. */
const DEFAULT_MAX_TOKENS = 500;

export interface ServerPolicyOptions {
  /** Root of the server, without `/v1`. */
  url: string;
  api: Api;
  engine: Engine;
  model: string;
  coordinates: Coordinates;
  apiKey?: string;
  /** For one try of one request. */
  timeoutMs: number;
  retry?: Partial<Omit<RetryOptions, 'signal'>>;
  /** Version of the weights that the server has now. */
  version?: number;
  /** Told once of each thing that makes replies worth less to the trainer. */
  warn?: (message: string) => void;
}

/** One server that speaks chat completions, or SGLang's `/generate`: one worker. */
export class ServerPolicy implements Policy {
  readonly name: string;
  readonly url: string;
  readonly coordinates: Coordinates;
  readonly #options: ServerPolicyOptions;
  /** Fields that this server does not know. */
  readonly #dropped = new Set<string>();
  readonly #told = new Set<string>();
  #model: string;
  #version: number;

  constructor(options: ServerPolicyOptions) {
    this.#options = options;
    this.#model = options.model;
    this.#version = options.version ?? 0;
    this.url = options.url;
    this.coordinates = options.coordinates;
    this.name = `${options.api === 'generate' ? 'sglang' : 'openai'}:${options.model}`;
  }

  get version(): number {
    return this.#version;
  }

  /** From the next request on the server is taken to have this version, under this name of the model. */
  became(version: number, model: string = this.#options.model): void {
    this.#version = version;
    this.#model = model;
  }

  /** @throws ServerFailure where no whole reply came, after the tries that make sense with one server. */
  async act(request: PolicyRequest): Promise<PolicyReply> {
    if (request.frames.length === 0) {
      throw new DartError('there is no screenshot to act on', { where: request.task.task_id });
    }
    const messages = promptOf(request, this.coordinates);
    const retry = { ...RETRY_DEFAULTS, ...this.#options.retry, signal: request.signal };
    return withRetries(() => this.#ask(messages, request), retry);
  }

  async close(): Promise<void> {}

  async #ask(messages: ReturnType<typeof promptOf>, request: PolicyRequest): Promise<PolicyReply> {
    const { api, engine } = this.#options;
    const dialect = api === 'generate' ? generate : chat;
    const maxTokens = request.sampling.max_tokens ?? DEFAULT_MAX_TOKENS;
    const body = dialect.body(messages, this.#model, request, maxTokens, engine === 'dart');
    // While a request is under way no version is loaded here (the pool drains first), so this is the version it gets.
    const version = this.#version;
    const answer = dialect.read(await this.#call(dialect, body, request.signal), this.url);
    const text = checkWhole(answer, this.url);
    if (answer.trouble) this.#tellOnce(TROUBLES[answer.trouble]);
    const modelVersion = answer.version ?? version;
    // Somebody else loads versions into this server.
    if (answer.version !== null && version === this.#version) this.#version = answer.version;
    return {
      text,
      tokenIds: answer.tokenIds,
      logprobs: answer.logprobs,
      ...(answer.entropies ? { entropies: answer.entropies } : {}),
      finishReason: answer.finishReason!,
      modelVersion,
      ...(answer.promptTokenIds ? { promptTokenIds: answer.promptTokenIds } : {}),
    };
  }

  /**
   * Asks again without a field that the server says it does not know, and never sends it that field again. Requests that
   * were under way with the field when another one learned of it are asked again all the same.
   */
  async #call(dialect: typeof chat | typeof generate, body: object, signal?: AbortSignal): Promise<unknown> {
    const { url, timeoutMs, apiKey } = this.#options;
    for (;;) {
      // What this one request was sent without.
      const dropped = new Set(this.#dropped);
      try {
        return await callJson(url + dialect.path, { body: without(body, dropped), timeoutMs, apiKey, signal });
      } catch (error) {
        const unknown = error instanceof ServerFailure && fieldRefused(error, dialect.optional, dropped);
        if (!unknown) throw error;
        this.#dropped.add(unknown);
        this.#tellOnce(`it does not know ${unknown}, and is asked without it`);
      }
    }
  }

  #tellOnce(message: string): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#options.warn?.(`${this.url}: ${message}`);
  }
}

const TROUBLES: Readonly<Record<TokenTrouble, string>> = {
  'no-ids': 'it gives no token ids: the trainer tokenises the replies, and takes them without importance weights',
  'no-logprobs': 'it gives no log-probabilities: replies are taken without importance weights',
  'counts-differ': 'it gives another number of log-probabilities than of tokens: such replies are unscored',
};

/** A field that a server complains of by name, and that it was sent. */
function fieldRefused(
  { kind, message }: ServerFailure,
  optional: readonly string[],
  dropped: ReadonlySet<string>,
): string | undefined {
  if (kind !== 'refused') return undefined;
  return optional.find((field) => !dropped.has(field) && new RegExp(`\\b${field}\\b`).test(message));
}

/** The body without some fields, also of its `sampling_params`. */
function without(body: object, dropped: ReadonlySet<string>): object {
  if (dropped.size === 0) return body;
  const kept = Object.entries(body).filter(([name]) => !dropped.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'sampling_params' ? without(value as object, dropped) : value]),
  );
}
