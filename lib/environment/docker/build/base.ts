import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { execa } from 'execa';
import { DartError } from '../../../errors.ts';
import { dockerError, statusOf } from '../errors.ts';
import type { BuildOptions } from './options.ts';
import { follow } from './progress.ts';

const SUITE = 'bookworm';
/** What debootstrap makes, kept for the next build. */
const MADE = `dart-base:${SUITE}`;
const PUBLISHED = `debian:${SUITE}-slim`;

/**
 * Name of the image that the desktop is built on: the one that was asked for, or Debian's own where it is here or can be
 * pulled, or one made of Debian's packages.
 */
export async function baseImage(docker: Docker, options: BuildOptions): Promise<string> {
  const { base, tell } = options;
  if (base !== undefined && base !== 'debootstrap') {
    if (!(await hasImage(docker, base))) await pull(docker, base, options);
    return base;
  }
  if (await hasImage(docker, MADE)) return MADE;
  if (base === undefined) {
    if (await hasImage(docker, PUBLISHED)) return PUBLISHED;
    try {
      await pull(docker, PUBLISHED, options);
      return PUBLISHED;
    } catch (error) {
      options.signal?.throwIfAborted();
      tell(`${(error as DartError).message}; Debian is put together from its packages instead`);
    }
  }
  await make(docker, options);
  return MADE;
}

/** The image's id, or null where there is none of the name. */
export async function imageId(docker: Docker, name: string): Promise<string | null> {
  try {
    return (await docker.getImage(name).inspect()).Id;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw dockerError(error, `look for the image ${name}`, 'docker');
  }
}

async function hasImage(docker: Docker, name: string): Promise<boolean> {
  return (await imageId(docker, name)) !== null;
}

async function pull(docker: Docker, name: string, { tell, signal }: BuildOptions): Promise<void> {
  tell(`pulling ${name}`);
  try {
    await follow(docker, await docker.pull(name, { abortSignal: signal }), () => {});
  } catch (error) {
    signal?.throwIfAborted();
    throw dockerError(error, `pull ${name}`, 'docker');
  }
}

/** Debian's smallest system, by debootstrap, as an image. */
async function make(docker: Docker, { mirror, tell, signal }: BuildOptions): Promise<void> {
  const where = 'debootstrap';
  if (process.getuid?.() !== 0) {
    throw new DartError('only root can put a Debian system together', { where, hint: 'sudo, or --base IMAGE' });
  }
  const folder = mkdtempSync(join(tmpdir(), 'dart-debian-'));
  try {
    tell(`putting Debian ${SUITE} together from ${mirror}`);
    await execa('debootstrap', ['--variant=minbase', SUITE, folder, mirror], { cancelSignal: signal, all: true });
    tell(`importing it as ${MADE}`);
    const tar = spawn('tar', ['--create', '--numeric-owner', `--directory=${folder}`, '.'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [repo, tag] = MADE.split(':');
    await follow(docker, await docker.importImage(tar.stdout, { repo, tag, abortSignal: signal }), () => {});
  } catch (error) {
    signal?.throwIfAborted();
    const { code, all } = error as { code?: string; all?: string };
    if (code === 'ENOENT') {
      throw new DartError('there is no debootstrap', { where, hint: 'apt install debootstrap, or --base IMAGE' });
    }
    throw dockerError(all === undefined ? error : new Error(lastLine(all)), 'make the base image', where);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
