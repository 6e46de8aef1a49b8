import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DartError } from '../../errors.ts';
import { writeWhole } from '../../stream/files.ts';
import { refuseOtherEngine } from '../folder.ts';
import { listVersions, TORCH_POLICY_FILE } from '../versions.ts';
import { type BaseCheckpoint, checkBase } from './base.ts';
import type { LoraSettings } from './settings.ts';

const loraSchema = z.looseObject({
  rank: z.number(),
  alpha: z.number(),
  targets: z.union([z.literal('all-linear'), z.array(z.string())]),
});
const schema = z.looseObject({
  engine: z.literal('torch'),
  base: z.string(),
  sha256: z.string(),
  lora: loraSchema.nullable(),
});

/** What `DIR/policy.json` says of a run: which checkpoint it began with, and what is trained of it. */
export type TorchPolicy = z.infer<typeof schema>;

/** The policy file of a folder, null where it has none. @throws DartError where it cannot be read. */
export function readTorchPolicy(dir: string): TorchPolicy | null {
  const path = join(dir, TORCH_POLICY_FILE);
  if (!existsSync(path)) return null;
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new DartError('this is no policy file of the torch engine', {
      where: path,
      hint: 'another --publish folder',
      cause,
    });
  }
}

/**
 * The checkpoint that a run in this folder begins with, checked; nothing is written.
 * @param base From `--policy`; null goes on with the one that the folder names.
 * @throws DartError where neither is there, where the checkpoint is not whole, and where the folder is another engine's
 *   or holds the versions of another policy.
 */
export function planTorchPolicy(dir: string, base: string | null, lora: LoraSettings | null): BaseCheckpoint {
  refuseOtherEngine(dir, 'torch');
  const found = readTorchPolicy(dir);
  const path = base ?? found?.base;
  if (path === undefined) {
    throw new DartError('there is no policy to start from', { where: dir, hint: '--policy hf:DIR' });
  }
  const checkpoint = checkBase(path);
  if (!found || listVersions(dir).length === 0) return checkpoint;
  const begun = describe(found.lora);
  const asked = describe(lora);
  if (found.sha256 === checkpoint.sha256 && begun === asked) return checkpoint;
  const unlike = found.sha256 === checkpoint.sha256 ? `${begun} was trained, not ${asked}` : `of ${found.base}`;
  throw new DartError(`this folder holds the versions of another policy (${unlike})`, {
    where: dir,
    hint: 'the --policy and --lora that the run began with, or another --publish folder',
  });
}

/** Writes the policy file, where it is not there as it should be. */
export async function writeTorchPolicy(
  dir: string,
  { path, sha256 }: BaseCheckpoint,
  lora: LoraSettings | null,
): Promise<void> {
  const kept = lora && { rank: lora.rank, alpha: lora.alpha, targets: lora.targets };
  const text = `${JSON.stringify({ engine: 'torch', base: path, sha256, lora: kept })}\n`;
  const file = join(dir, TORCH_POLICY_FILE);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) await writeWhole(file, text);
}

function describe(lora: Pick<LoraSettings, 'rank' | 'alpha' | 'targets'> | null): string {
  if (!lora) return 'the whole model';
  const targets = typeof lora.targets === 'string' ? lora.targets : [...lora.targets].sort().join(',');
  return `LoRA of rank ${lora.rank}, alpha ${lora.alpha}, on ${targets}`;
}
