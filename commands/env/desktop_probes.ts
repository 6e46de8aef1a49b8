import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import zlib from 'node:zlib';
import { DartError } from '../../lib/errors.ts';
import type { Probe } from './probe.ts';
import { askAny } from './probe.ts';

const IMAGE = 'dart-desktop:slim';
/** Docker's images and the disks of containers; with less the first pull fills it. */
const LEAST_FREE_GB = 5;
const IN_POD = '/var/run/secrets/kubernetes.io/serviceaccount/token';

async function docker(): Promise<string> {
  const { checkDocker, dockerAt } = await import('../../lib/environment/docker/client.ts');
  const engine = dockerAt();
  // Says whether the socket is missing, or is not for this user.
  await checkDocker(engine);
  return `server ${(await engine.version()).Version}`;
}

async function image(): Promise<string | null> {
  const { checkDocker, dockerAt } = await import('../../lib/environment/docker/client.ts');
  const engine = dockerAt();
  try {
    await checkDocker(engine);
  } catch {
    return null;
  }
  const found = await engine
    .getImage(IMAGE)
    .inspect()
    .catch(() => null);
  return found && `${IMAGE}, ${(found.Size / 1e9).toFixed(1)} GB`;
}

/** Where Docker keeps its images and containers; null where it does not say. */
async function dataRoot(): Promise<string | null> {
  const { checkDocker, dockerAt } = await import('../../lib/environment/docker/client.ts');
  try {
    const engine = dockerAt();
    await checkDocker(engine);
    return ((await engine.info()) as { DockerRootDir?: string }).DockerRootDir ?? null;
  } catch {
    return null;
  }
}

async function disk(): Promise<string> {
  const folder = [await dataRoot(), '/var/lib/docker', '/var/lib', '/'].find((path) => path && existsSync(path))!;
  const { bavail, bsize } = await statfs(folder);
  const free = (bavail * bsize) / 1e9;
  const text = `${free.toFixed(1)} GB free at ${folder}`;
  if (free >= LEAST_FREE_GB) return text;
  throw new DartError(`only ${text}`, { hint: 'docker system prune, or a larger disk' });
}

async function kvm(): Promise<string | null> {
  if (!existsSync('/dev/kvm')) return null;
  accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
  return '/dev/kvm can be opened';
}

async function xvfb(): Promise<string> {
  const { debianPackages, installHint, missingPrograms } = await import('../../lib/guest/x11/machine.ts');
  const missing = missingPrograms();
  if (missing.length === 0) return 'Xvfb, window manager and accessibility bus';
  throw new DartError(`no ${missing.join(', no ')}`, { hint: installHint(debianPackages()) });
}

async function kubeconfig(): Promise<string | null> {
  const listed = (process.env.KUBECONFIG ?? '').split(delimiter).filter(Boolean);
  const path = [...listed, join(homedir(), '.kube/config'), IN_POD].find((candidate) => existsSync(candidate));
  if (path === undefined) return null;
  accessSync(path, constants.R_OK);
  if ('createZstdDecompress' in zlib) return path;
  throw new DartError(`${path}, but the Kubernetes client does not load in Node ${process.version}`, {
    hint: 'Node 22.19',
  });
}

/** What desktops need that are more than a part of a process. */
export const DESKTOP_PROBES: readonly Probe[] = [
  {
    name: 'docker',
    needed_for: 'desktops in containers (--driver docker)',
    hint: 'apt install docker.io, its daemon started, and membership of the group docker',
    look: docker,
  },
  {
    name: 'desktop-image',
    needed_for: 'our own desktop in containers (--driver docker)',
    hint: 'dart-env build-image, once Docker answers',
    look: image,
  },
  {
    name: 'disk',
    needed_for: 'images and containers',
    hint: 'docker system prune, or a larger disk',
    look: disk,
  },
  {
    name: 'kvm',
    needed_for: "OSWorld's virtual machine at full speed (--driver docker --profile osworld)",
    hint: 'virtualisation switched on in the firmware, and membership of the group kvm',
    look: kvm,
  },
  {
    name: 'xvfb',
    needed_for: 'desktops on this machine without containers (--driver xvfb)',
    hint: 'apt install xvfb openbox at-spi2-core',
    look: xvfb,
  },
  {
    name: 'chromium',
    needed_for: 'browser tasks under Xvfb',
    hint: 'apt install chromium',
    look: () => askAny(['chromium', 'chromium-browser', 'google-chrome'], ['--version']),
  },
  {
    name: 'kubeconfig',
    needed_for: 'desktops as pods (--driver kubernetes)',
    hint: 'KUBECONFIG or ~/.kube/config from whoever runs the cluster (docs/kubernetes.md)',
    look: kubeconfig,
  },
];
