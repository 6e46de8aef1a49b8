import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import { DRIVER, LABELS } from './labels.ts';
import type { DockerSettings } from './settings.ts';

/** Ports inside: the guest server, Chrome's debugging port, VLC's web interface, noVNC (reference/osworld.md §6). */
export const PORTS = { server: 5000, cdp: 9222, vlc: 8080, vnc: 8006 } as const;

const GIB = 2 ** 30;

export interface Identity {
  /** `env_id` of the desktop. */
  env: string;
  run: string;
  owner: string;
  detached: boolean;
}

/**
 * What Docker is asked to make. Ports are published on loopback alone.
 * @param port For the guest server on the host; 0 leaves the choice to Docker.
 * @param network Where the container lives.
 */
export function recipeOf(
  settings: DockerSettings,
  who: Identity,
  port: number,
  network: string,
): ContainerCreateOptions {
  const ports = portsOf(settings);
  const published = (inside: number) => [
    { HostIp: '127.0.0.1', HostPort: inside === PORTS.server && port > 0 ? String(port) : '' },
  ];
  return {
    Image: settings.image,
    Labels: {
      [LABELS.driver]: DRIVER,
      [LABELS.run]: who.run,
      [LABELS.env]: who.env,
      [LABELS.owner]: who.owner,
      [LABELS.detached]: String(who.detached),
      [LABELS.port]: String(PORTS.server),
    },
    Env: environmentOf(settings),
    ExposedPorts: Object.fromEntries(ports.map((inside) => [`${inside}/tcp`, {}])),
    HostConfig: {
      PortBindings: Object.fromEntries(ports.map((inside) => [`${inside}/tcp`, published(inside)])),
      NetworkMode: network,
      ShmSize: settings.shm,
      PidsLimit: 4096,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
      ...limitsOf(settings),
      ...machineOf(settings),
    },
  };
}

/** Those that the profile answers on. */
export function portsOf({ profile }: DockerSettings): number[] {
  const { server, cdp, vlc, vnc } = PORTS;
  return profile === 'osworld' ? [server, cdp, vlc, vnc] : [server, cdp, vlc];
}

function environmentOf({ machine, size }: DockerSettings): string[] {
  if (!machine) return [`DART_SCREEN=${size.width}x${size.height}`];
  const { disk, memory, cpus, kvm } = machine;
  const env = [`DISK_SIZE=${gigabytes(disk)}`, `RAM_SIZE=${gigabytes(memory)}`, `CPU_CORES=${cpus}`];
  return kvm ? env : [...env, 'KVM=N'];
}

function limitsOf({ memory, cpus }: DockerSettings): HostConfig {
  return {
    // Without swap beside it: a desktop that swaps is slower than one that is replaced.
    ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
    ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
  };
}

/** What QEMU needs of the host. Its own network is behind NAT inside the container: NET_ADMIN. */
function machineOf({ machine }: DockerSettings): HostConfig {
  if (!machine) return {};
  const kvm = { PathOnHost: '/dev/kvm', PathInContainer: '/dev/kvm', CgroupPermissions: 'rwm' };
  return {
    CapAdd: ['NET_ADMIN'],
    Devices: machine.kvm ? [kvm] : [],
    Mounts: [{ Type: 'bind', Source: machine.qcow2, Target: '/System.qcow2', ReadOnly: true }],
  };
}

function gigabytes(bytes: number): string {
  return bytes % GIB === 0 ? `${bytes / GIB}G` : `${Math.ceil(bytes / 2 ** 20)}M`;
}
