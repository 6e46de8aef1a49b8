import { z } from 'zod';
import type { Coordinates } from '../policy.ts';
import { versionIn } from './answer.ts';
import { callJson, type ServerCall } from './call.ts';
import { ServerFailure } from './failure.ts';
import { COORDINATES, type Engine } from './server_spec.ts';

/** What a server says of itself. */
export interface ServerDescription {
  engine: Engine;
  /** The first model that it lists; null where it lists none. */
  model: string | null;
  /** Our own server says how its policy writes coordinates. */
  coordinates: Coordinates | null;
  /** Version of the weights, where it says a number. */
  version: number | null;
}

const modelsSchema = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), owned_by: z.string().nullish(), coordinates: z.string().nullish() })),
});

/** Asks `/v1/models`, and where the engine has versions `/get_model_info`. Throws a ServerFailure where nobody answers. */
export async function describeServer(
  url: string,
  call: Omit<ServerCall, 'method' | 'body'>,
): Promise<ServerDescription> {
  const get = (path: string) => callJson(url + path, { ...call, method: 'GET' });
  const parsed = modelsSchema.safeParse(await get('/v1/models'));
  if (!parsed.success)
    throw new ServerFailure('refused', 'the answer to /v1/models is no list of models', { where: url });
  const first = parsed.data.data[0];
  const engine = engineOf(first?.owned_by);
  const info = engine === 'sglang' || engine === 'dart' ? await get('/get_model_info').catch(() => null) : null;
  return {
    engine,
    model: first?.id ?? null,
    coordinates: COORDINATES.find((name) => name === first?.coordinates) ?? null,
    version: versionIn(info),
  };
}

function engineOf(owner: string | null | undefined): Engine {
  return owner === 'vllm' || owner === 'sglang' || owner === 'dart' ? owner : 'other';
}
