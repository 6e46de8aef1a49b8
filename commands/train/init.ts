import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { EXIT } from '../../lib/errors.ts';
import { DEFAULT_CONFIG } from '../../lib/policy/network/config.ts';
import { writePolicyFile } from '../../lib/policy/network/policy_file.ts';
import { initialWeights } from '../../lib/policy/network/weights.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { numberOf, textOf } from './settings.ts';

/** `dart-train init -o FILE`: the embedded network with fresh weights. */
export async function run(context: CommandContext): Promise<number> {
  const { options, io } = context;
  const weights = initialWeights(DEFAULT_CONFIG, numberOf(options, 'seed') ?? 0);
  const output = textOf(options, 'output')!;
  await writeWhole(resolvePath(io, output), writePolicyFile(DEFAULT_CONFIG, weights));
  const count = [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  logOf(context).info(`${output}: ${count} weights`);
  return EXIT.ok;
}
