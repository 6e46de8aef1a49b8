import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeVersion, writeVersionFile } from '../versions.ts';
import { exportModel } from './export.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-export-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

it('copies the model of a version as it was written, and nothing of one that is not', async () => {
  const version = await writeVersion(dir, 1, 'run', async (folder) => {
    await writeVersionFile(folder, 'config.json', '{}');
    await writeVersionFile(folder, 'model.safetensors', 'weights');
  });
  await exportModel(version, join(dir, 'whole'));
  expect(readFileSync(join(dir, 'whole/model.safetensors'), 'utf8')).toBe('weights');
  writeFileSync(join(version, 'model.safetensors'), 'wEights');
  await expect(exportModel(version, join(dir, 'other'))).rejects.toMatchObject({
    message: 'the file is not as it was written: its sha256 differs from the manifest',
    where: join(version, 'model.safetensors'),
  });
  expect(existsSync(join(dir, 'other'))).toBe(false);
});
