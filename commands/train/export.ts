import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { listVersions } from '../../lib/training/versions.ts';
import { numberOf, textOf } from './settings.ts';
import { readPolicy } from './source.ts';

/** `dart-train export DIR -o FILE`: graph and one version's weights in one file. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options, positionals } = context;
  const dir = resolvePath(io, positionals[0]!);
  const versions = listVersions(dir);
  const version = numberOf(options, 'version-number') ?? versions.at(-1);
  if (version === undefined || !versions.includes(version)) {
    throw new DartError(version === undefined ? 'no version was published here' : `there is no version ${version}`, {
      where: dir,
      hint: versions.length > 0 ? `one of ${versions.join(', ')}` : 'a folder that dart-train published into',
    });
  }
  const output = textOf(options, 'output')!;
  await writeWhole(resolvePath(io, output), readPolicy(dir, version));
  logOf(context).info(`version ${version} of ${positionals[0]} written to ${output}`);
  return EXIT.ok;
}
