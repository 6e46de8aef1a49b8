import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DartError } from '../../errors.ts';
import type { Size } from '../../guest/guest.ts';
import { OSWORLD_WAITS, type ProtocolWaits, SESSION_WAITS } from '../environment.ts';
import type { KindValues } from '../kind.ts';

/** What every container of one driver is made from. */
export interface DockerSettings {
  profile: 'desktop' | 'osworld';
  image: string;
  /** Bytes; undefined: no limit. */
  memory: number | undefined;
  cpus: number | undefined;
  shm: number;
  /** Of our desktop's screen. */
  size: Size;
  reset: 'container' | 'session';
  bootTimeoutMs: number;
  /** 0: any that are free. */
  firstPort: number;
  network: string | undefined;
  waits: ProtocolWaits;
  /** Of OSWorld's virtual machine. */
  machine: VirtualMachine | undefined;
}

export interface VirtualMachine {
  qcow2: string;
  /** Bytes. */
  disk: number;
  memory: number;
  cpus: number;
  kvm: boolean;
}

const QCOW2_HINT =
  'qcow2=FILE: Ubuntu.qcow2.zip of OSWorld (12 GB, 23 GB unpacked) from huggingface.co/datasets/xlangai/ubuntu_osworld';

/**
 * Options as settings.
 * @param kvm Whether this machine has /dev/kvm.
 * @throws DartError where they do not go together or a file is missing.
 */
export function settingsOf(values: KindValues, kvm = existsSync('/dev/kvm')): DockerSettings {
  const osworld = values.profile === 'osworld';
  if (osworld && values.reset === 'session') {
    throw new DartError("a virtual machine of OSWorld's cannot restart its session", {
      where: 'docker, reset',
      hint: 'reset=container, whose disk is thrown away with the container',
    });
  }
  return {
    profile: osworld ? 'osworld' : 'desktop',
    image: (values.image as string | undefined) ?? (osworld ? 'happysixd/osworld-docker' : 'dart-desktop:slim'),
    memory: (values.memory as number | undefined) ?? (osworld ? undefined : 2 * 2 ** 30),
    cpus: values.cpus as number | undefined,
    shm: values.shm as number,
    size: sizeOf((values.size as string | undefined) ?? '1280x800'),
    reset: values.reset as DockerSettings['reset'],
    bootTimeoutMs: ((values['boot-timeout'] as number | undefined) ?? (osworld ? 300 : 90)) * 1000,
    firstPort: values['first-port'] as number,
    network: values.network as string | undefined,
    waits: osworld ? OSWORLD_WAITS : SESSION_WAITS,
    machine: osworld ? machineOf(values, kvm) : undefined,
  };
}

function machineOf(values: KindValues, kvm: boolean): VirtualMachine {
  if (values.qcow2 === undefined) {
    throw new DartError('OSWorld’s profile needs the disk of its virtual machine', {
      where: 'docker, qcow2',
      hint: QCOW2_HINT,
    });
  }
  const qcow2 = resolve(values.qcow2 as string);
  if (!existsSync(qcow2) || !statSync(qcow2).isFile()) {
    throw new DartError('there is no such file', { where: `docker, qcow2=${values.qcow2}`, hint: QCOW2_HINT });
  }
  if (!kvm && values.emulate !== true) {
    throw new DartError('this machine has no /dev/kvm, without which the virtual machine is many times slower', {
      where: 'docker, profile=osworld',
      hint: 'virtualisation switched on in the firmware and modprobe kvm, or emulate=true with a longer boot-timeout',
    });
  }
  const { 'vm-disk': disk, 'vm-memory': memory, 'vm-cpus': cpus } = values as Record<string, number>;
  return { qcow2, disk: disk!, memory: memory!, cpus: cpus!, kvm: kvm && values.emulate !== true };
}

function sizeOf(text: string): Size {
  const [, width, height] = /^(\d{3,4})x(\d{3,4})$/.exec(text) ?? [];
  if (width && height) return { width: Number(width), height: Number(height) };
  throw new DartError(`"${text}" is no size of a screen`, { where: 'docker, size', hint: 'size=1280x800' });
}
