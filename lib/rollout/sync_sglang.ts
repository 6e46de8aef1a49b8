import { z } from 'zod';
import { DartError } from '../errors.ts';
import { callJson } from '../policy/openai/call.ts';
import { loadFailure } from './sync_error.ts';
import { type LoadCall, refuseAdapter } from './sync_vllm.ts';

const endSchema = z.looseObject({ success: z.boolean(), message: z.string().nullish() });

/**
 * Loads whole weights from a folder; SGLang, and our own server, then say the version with every reply.
 * @throws DartError for a folder of LoRA adapters, which would not be the whole model.
 */
export async function updateFromDisk(call: LoadCall, version: number, path: string): Promise<void> {
  const { url, ...rest } = call;
  await refuseAdapter(path, url);
  const body = { model_path: path, weight_version: String(version), flush_cache: true };
  let end: unknown;
  try {
    end = await callJson(`${url}/update_weights_from_disk`, { ...rest, body });
  } catch (error) {
    throw loadFailure(error, url);
  }
  const parsed = endSchema.safeParse(end);
  if (parsed.success && parsed.data.success) return;
  const reason = parsed.success ? (parsed.data.message ?? 'no reason given') : 'the answer says nothing of success';
  throw new DartError(`the version was refused: ${reason}`, { where: url });
}
