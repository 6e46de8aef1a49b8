import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { DartError, messageOf } from '../errors.ts';
import { callServer, type ServerCall } from '../policy/openai/call.ts';
import { ServerFailure } from '../policy/openai/failure.ts';
import { loadFailure, UncertainVersion } from './sync_error.ts';

export interface LoadCall extends Omit<ServerCall, 'body' | 'method'> {
  /** Root of the server. */
  url: string;
}

/** Whether a version's folder is a LoRA adapter, as PEFT writes them. */
export async function isAdapter(path: string): Promise<boolean> {
  return access(join(path, 'adapter_config.json')).then(
    () => true,
    () => false,
  );
}

/** @throws DartError for a LoRA adapter, where only whole weights can be taken. */
export async function refuseAdapter(path: string, where: string): Promise<void> {
  if (!(await isAdapter(path))) return;
  throw new DartError('the version is a LoRA adapter, and whole weights are wanted here', {
    where,
    hint: 'vLLM with --enable-lora and --update auto, or dart-train without --lora',
  });
}

/**
 * Loads a LoRA adapter under a name of its own, which requests ask for as the model from then on: what is under way with
 * the old one is not touched. Wants `VLLM_ALLOW_RUNTIME_LORA_UPDATING=True`.
 * @param old the adapter that is asked for now, which is unloaded afterwards; null for none.
 * @returns the name of the model.
 */
export async function loadAdapter(call: LoadCall, version: number, path: string, old: string | null): Promise<string> {
  // The folder is part of the name: another run's version 7 is another adapter.
  const name = `dart-v${version}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`;
  try {
    await post(call, '/v1/load_lora_adapter', { lora_name: name, lora_path: path });
  } catch (error) {
    const there =
      error instanceof ServerFailure && error.kind === 'refused' && /already been loaded/.test(error.message);
    // Under the old name the old weights answer, whatever became of the new ones.
    if (!there)
      throw loadFailure(certain(error), call.url, 'vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True');
  }
  if (old !== null && old !== name) await post(call, '/v1/unload_lora_adapter', { lora_name: old }).catch(() => {});
  return name;
}

function certain(error: unknown): unknown {
  return error instanceof ServerFailure ? new ServerFailure('refused', error.message, { cause: error }) : error;
}

const DEV_MODE = 'VLLM_SERVER_DEV_MODE=1 for the server, a LoRA adapter as version, or --update restart';

/**
 * Loads whole weights from a folder by `/collective_rpc`, and forgets what the old weights left in the cache of prompts.
 * Where there is `/pause` nobody else's request runs through the change either. Wants `VLLM_SERVER_DEV_MODE=1`.
 */
export async function reloadWeights(call: LoadCall, path: string): Promise<void> {
  const paused = await post(call, '/pause?mode=wait', {}).then(
    () => true,
    () => false,
  );
  try {
    await reload(call, path);
    await post(call, '/reset_prefix_cache', {}).catch((error: unknown) => {
      throw new UncertainVersion('the cache of prompts still holds what the old weights made', {
        where: call.url,
        hint: 'vLLM without prefix caching, or newer',
        cause: error,
      });
    });
  } finally {
    if (paused) await resume(call);
  }
}

async function resume(call: LoadCall): Promise<void> {
  await post(call, '/resume', {}).catch((cause: unknown) => {
    throw new UncertainVersion(`it may still be paused: ${messageOf(cause)}`, { where: call.url, cause });
  });
}

async function reload(call: LoadCall, path: string): Promise<void> {
  try {
    await post(call, '/collective_rpc', { method: 'reload_weights', kwargs: { weights_path: path } });
  } catch (error) {
    const tooOld = error instanceof ServerFailure && /weights_path/.test(error.message);
    if (tooOld)
      throw loadFailure(certain(error), call.url, 'a vLLM whose reload_weights takes a path, or --update restart');
    throw loadFailure(
      error,
      call.url,
      error instanceof ServerFailure && error.kind === 'refused' ? DEV_MODE : undefined,
    );
  }
}

function post({ url, ...call }: LoadCall, path: string, body: object): Promise<string> {
  return callServer(url + path, { ...call, body });
}
