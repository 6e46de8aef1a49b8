import { z } from 'zod';
import type { WorkerPool } from '../worker_pool.ts';
import { badRequest } from './refusal.ts';

const orderSchema = z.looseObject({ model_path: z.string().min(1), weight_version: z.string().regex(/^\d{1,15}$/) });

/**
 * SGLang's `/update_weights_from_disk`: all workers to a published version, one after the other.
 * @returns what SGLang answers.
 */
export async function takeVersion(pool: WorkerPool, body: unknown): Promise<{ success: boolean; message: string }> {
  const parsed = orderSchema.safeParse(body);
  if (!parsed.success) throw badRequest('wanted: {"model_path": folder, "weight_version": "7"}');
  const { model_path, weight_version } = parsed.data;
  const version = Number(weight_version);
  if (!pool.canLoad) return { success: false, message: `${pool.name} has no versions` };
  if (pool.oldestVersion > version) {
    return { success: false, message: `version ${pool.oldestVersion} is here already, which is newer than ${version}` };
  }
  await pool.syncOneByOne(version, model_path);
  const success = pool.oldestVersion === version;
  return { success, message: success ? `version ${version} is loaded` : `${model_path} cannot be loaded` };
}
