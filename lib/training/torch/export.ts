import { constants, existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DartError } from '../../errors.ts';
import { fileError } from '../../stream/errno.ts';
import { makeFolder } from '../../stream/files.ts';
import { temporaryName } from '../../stream/temporary.ts';
import { checkVersionFile } from '../versions.ts';
import { modelFiles } from './base.ts';

/**
 * Copies a version's model (weights or adapters, configuration, tokenizer, processor) into a new folder, which is there
 * whole or not at all. Links become files; a file system that can share their blocks does.
 * @throws DartError where the folder has something in it already, for a file that is not as it was written, and for what
 *   the disk refuses.
 */
export async function exportModel(version: string, output: string): Promise<void> {
  const target = resolve(output);
  if (existsSync(target) && (basename(target) === '' || readdirSync(target).length > 0)) {
    throw new DartError('there is something of that name already', { where: output, hint: 'another -o DIR' });
  }
  const temporary = temporaryName(target);
  try {
    await makeFolder(dirname(target));
    await mkdir(temporary);
    for (const name of modelFiles(version)) {
      await checkVersionFile(version, name);
      await copyFile(join(version, name), join(temporary, name), constants.COPYFILE_FICLONE);
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => {});
    throw fileError(error, 'write the folder', output);
  }
}
