import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import type { Variant } from '../../lib/environment/docker/build/options.ts';
import { buildImage } from '../../lib/environment/docker/build.ts';
import { EXIT } from '../../lib/errors.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';

/** Builds the image, with its progress on stderr. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options } = context;
  const log = logOf(context);
  const variant = options.variant as Variant;
  const tag = (options.tag as string | undefined) ?? `dart-desktop:${variant}`;
  if (options['dry-run'] === true) {
    log.info(`would build ${tag} with the applications of ${variant}`);
    return EXIT.ok;
  }
  const output = await openOutput(context);
  const progress = new Progress(context, 'build-image');
  const begun = performance.now();
  try {
    const built = await buildImage({
      variant,
      tag,
      base: options.base as string | undefined,
      mirror: options.mirror as string,
      securityMirror: options['security-mirror'] as string,
      host: (options.host as string | undefined) ?? io.env.DOCKER_HOST,
      tell: (line) => log.info(`build-image: ${line}`),
      progress: (text) => progress.update(text),
      signal: io.signal,
    });
    const wall_s = Math.round((performance.now() - begun) / 100) / 10;
    progress.done(`${tag} ${built.changed ? 'is built' : 'was up to date'}`);
    await output.write({ type: 'event', v: SCHEMA_VERSION, event: 'image', variant, ...built });
    await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-env build-image', image: tag, wall_s });
    await output.close();
    if (options.table === true) await printTable(io, ['image', 'MB'], [[tag, Math.round(built.size_bytes / 1e6)]]);
    return EXIT.ok;
  } finally {
    progress.stop();
  }
}
