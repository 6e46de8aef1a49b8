import { spawn } from 'node:child_process';
import { DartError } from '../../errors.ts';
import { baseImage, imageId } from './build/base.ts';
import { type BuildContext, stageContext, tarArguments } from './build/context.ts';
import type { BuildOptions } from './build/options.ts';
import { BuildProgress, follow } from './build/progress.ts';
import { checkDocker, dockerAt } from './client.ts';
import { dockerError } from './errors.ts';

export interface BuiltImage {
  image: string;
  /** `sha256:…` */
  id: string;
  base: string;
  size_bytes: number;
  /** False where everything was there already. */
  changed: boolean;
}

/**
 * Builds our desktop image. What has not changed since the last build is taken from Docker's cache.
 * @param stage Makes the folder that it is built from; it is removed again.
 * @throws DartError where Docker, the network, the disk or the installation does not allow it.
 */
export async function buildImage(options: BuildOptions, stage: () => BuildContext = stageContext): Promise<BuiltImage> {
  const docker = dockerAt(options.host);
  await checkDocker(docker);
  const context = stage();
  try {
    const before = await imageId(docker, options.tag);
    const base = await baseImage(docker, options);
    options.tell(`building ${options.tag} on ${base}`);
    const progress = new BuildProgress();
    const tar = spawn('tar', tarArguments(context.folder), { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const stream = await docker.buildImage(tar.stdout, requestOf(options, base));
      let built = false;
      await follow(docker, stream, ({ stream: text, aux }) => {
        built ||= aux?.ID !== undefined;
        if (text === undefined) return;
        progress.read(text);
        options.progress(progress.text);
      });
      if (!built) throw new Error('Docker ended before the build did');
    } catch (error) {
      options.signal?.throwIfAborted();
      throw buildError(error, progress);
    } finally {
      tar.kill();
    }
    const { Id: id, Size: size_bytes } = await docker.getImage(options.tag).inspect();
    return { image: options.tag, id, base, size_bytes, changed: id !== before };
  } finally {
    context.remove();
  }
}

function requestOf(options: BuildOptions, base: string) {
  return {
    t: options.tag,
    buildargs: {
      BASE: base,
      VARIANT: options.variant,
      MIRROR: options.mirror,
      SECURITY_MIRROR: options.securityMirror,
    },
    // Package servers may be reachable from this machine's own network alone.
    networkmode: 'host',
    labels: { 'dart.variant': options.variant },
    rm: true,
    forcerm: true,
    abortSignal: options.signal,
  };
}

/** A step's own last lines say more than its exit code. */
function buildError(error: unknown, progress: BuildProgress): DartError {
  const tail = progress.tail;
  const known = dockerError(new Error(tail), 'build the image', `docker, ${progress.text}`);
  if (known.hint !== undefined) {
    const message = known.message.replace(/ \(.*$/s, '');
    return new DartError(message, { where: known.where!, hint: known.hint, cause: error });
  }
  const plain = dockerError(error, 'build the image', `docker, ${progress.text}`);
  if (plain.hint !== undefined || tail === '') return plain;
  return new DartError(`${plain.message}; the last lines of the build:\n${tail}`, {
    where: plain.where!,
    cause: error,
  });
}
