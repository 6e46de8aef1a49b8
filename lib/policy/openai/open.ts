import { DartError } from '../../errors.ts';
import type { Coordinates } from '../policy.ts';
import { describeServer, type ServerDescription } from './describe.ts';
import type { RetryOptions } from './retry.ts';
import { ServerPolicy } from './server_policy.ts';
import type { ServerSpec } from './server_spec.ts';

/** What holds for all servers of a policy, besides its specification. */
export interface ServerSettings {
  apiKey?: string;
  /** Name of the model, where the specification gives none. */
  model?: string;
  coordinates?: Coordinates;
  /** For one try of one request, ms. */
  timeoutMs?: number;
  retry?: Partial<Omit<RetryOptions, 'signal'>>;
  warn?: (message: string) => void;
}

export interface OpenedServer {
  policy: ServerPolicy;
  engine: ServerDescription['engine'];
  /** Why the server could not be asked; null where it answered. */
  down: unknown;
}

/** DART's. */
export const DEFAULT_TIMEOUT_MS = 100_000;
/** For questions that a healthy server answers at once. */
export const QUESTION_TIMEOUT_MS = 10_000;

/**
 * Asks each server what it is. Those that do not answer are taken to be like those that do, and may come later.
 * @throws the first ServerFailure where none answers; a DartError where they serve different models.
 */
export async function openServers(spec: ServerSpec, settings: ServerSettings = {}): Promise<OpenedServer[]> {
  const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, warn } = settings;
  if (spec.urls.length === 0) {
    throw new DartError('the policy names no server', { where: '--policy', hint: 'openai:http://127.0.0.1:8000/v1' });
  }
  const call = { apiKey, timeoutMs: Math.min(timeoutMs, QUESTION_TIMEOUT_MS) };
  const asked = await Promise.allSettled(spec.urls.map((url) => describeServer(url, call)));
  const found = asked.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const like = found[0];
  if (!like) throw (asked[0] as PromiseRejectedResult).reason;
  asked.forEach((end, index) => {
    if (spec.api === 'generate' && end.status === 'fulfilled') checkHasGenerate(spec.urls[index]!, end.value);
  });
  const model = spec.model ?? settings.model ?? oneModel(found);
  const coordinates = spec.coordinates ?? settings.coordinates ?? like.coordinates ?? 'smart-resize';
  return spec.urls.map((url, index) => {
    const end = asked[index]!;
    const own = end.status === 'fulfilled' ? end.value : { ...like, version: null };
    const engine = spec.engine ?? own.engine;
    const version = own.version ?? 0;
    const { api } = spec;
    const policy = new ServerPolicy({
      ...{ url, api, engine, model, coordinates, apiKey, timeoutMs, version, warn, retry: settings.retry },
    });
    return { policy, engine, down: end.status === 'rejected' ? end.reason : null };
  });
}

/** Told here, where every rollout would end in status 404. */
function checkHasGenerate(url: string, { engine }: ServerDescription): void {
  if (engine !== 'dart' && engine !== 'vllm') return;
  const name = engine === 'dart' ? 'dart-rollout serve' : 'vLLM';
  throw new DartError(`${name} answers there, which does not have SGLang's /generate`, {
    where: url,
    hint: `--policy openai:${url}/v1`,
  });
}

function oneModel(found: readonly ServerDescription[]): string {
  const names = [...new Set(found.map(({ model }) => model))];
  if (names.length === 1 && names[0] !== null) return names[0]!;
  const problem =
    names.length > 1 ? `the servers list different models: ${names.join(', ')}` : 'the server lists no model';
  throw new DartError(problem, { where: '--policy', hint: '--model NAME' });
}
