import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { GLYPHS } from '../../lib/desktop/screen/font.ts';
import { EXIT } from '../../lib/errors.ts';
import { DEFAULT_CONFIG } from '../../lib/policy/network/config.ts';
import { learnToRead } from '../../lib/policy/network/learn_to_read.ts';
import { writePolicyFile } from '../../lib/policy/network/policy_file.ts';
import { initialWeights } from '../../lib/policy/network/weights.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { numberOf, textOf } from './settings.ts';

/** `dart-train init -o FILE`: the embedded network, able to read the embedded desktop's font and nothing else. */
export async function run(context: CommandContext): Promise<number> {
  const { options, io } = context;
  const seed = numberOf(options, 'seed') ?? 0;
  const steps = numberOf(options, 'reading-steps') ?? 600;
  const weights = initialWeights(DEFAULT_CONFIG, seed);
  if (steps > 0) {
    const read = await learnToRead(DEFAULT_CONFIG, weights, GLYPHS, { seed, steps });
    logOf(context).info(`finds ${(100 * read).toFixed(0)}% of the words on pages of random letters`);
  }
  const output = textOf(options, 'output')!;
  await writeWhole(resolvePath(io, output), writePolicyFile(DEFAULT_CONFIG, weights));
  const count = [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  logOf(context).info(`${output}: ${count} weights`);
  return EXIT.ok;
}
