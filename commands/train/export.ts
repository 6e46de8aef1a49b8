import { existsSync } from 'node:fs';
import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { exportModel } from '../../lib/training/torch/export.ts';
import { readTorchPolicy } from '../../lib/training/torch/policy_file.ts';
import { damageOf, listVersions, versionFolder } from '../../lib/training/versions.ts';
import { numberOf, textOf } from './settings.ts';
import { newestOf, readPolicy } from './source.ts';

/** `dart-train export DIR -o FILE`: graph and one version's weights in one file; of the torch engine a folder. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options, positionals } = context;
  const dir = resolvePath(io, positionals[0]!);
  const version = numberOf(options, 'version-number') ?? newestOf(dir, (line) => logOf(context).warn(line));
  const versions = listVersions(dir);
  if (version === null || !versions.includes(version)) {
    throw new DartError(whyNot(dir, version), {
      where: dir,
      hint: versions.length > 0 ? `one of ${versions.join(', ')}` : 'a folder that dart-train published into',
    });
  }
  const output = textOf(options, 'output')!;
  const path = resolvePath(io, output);
  if (readTorchPolicy(dir)) await exportModel(versionFolder(dir, version), path);
  else await writeWhole(path, readPolicy(dir, version));
  logOf(context).info(`version ${version} of ${positionals[0]} written to ${output}`);
  return EXIT.ok;
}

function whyNot(dir: string, version: number | null): string {
  if (version === null) return 'no version was published here';
  const folder = versionFolder(dir, version);
  if (!existsSync(folder)) return `there is no version ${version}`;
  return `version ${version} is damaged: ${damageOf(folder, version)}`;
}
