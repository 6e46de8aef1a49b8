import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { thrown } from '../../errors.testing.ts';
import { recipeOf } from './recipe.ts';
import { settingsOf } from './settings.ts';
import { dockerValues } from './values.testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-qcow2-'));
const qcow2 = join(folder, 'Ubuntu.qcow2');
writeFileSync(qcow2, 'disk');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const who = { env: 'docker-0', run: 'r1', owner: 'me', detached: false };
const settings = (given: Record<string, string | number | boolean> = {}, kvm = true) =>
  settingsOf(dockerValues(given), kvm);
const recipe = (given: Record<string, string | number | boolean> = {}, port = 0, kvm = true) =>
  recipeOf(settings(given, kvm), who, port, 'net');
const loopback = [{ HostIp: '127.0.0.1', HostPort: '' }];

describe('a container of our desktop', () => {
  it('has its ports on loopback, its labels, its limits and its network', () => {
    expect(recipe({ memory: '1g', cpus: 1.5, shm: '64m', size: '800x600' }, 6001)).toMatchObject({
      Image: 'dart-desktop:slim',
      Env: ['DART_SCREEN=800x600'],
      Labels: {
        'dart.driver': 'docker',
        'dart.run': 'r1',
        'dart.env': 'docker-0',
        'dart.owner': 'me',
        'dart.detached': 'false',
      },
      HostConfig: {
        PortBindings: {
          '5000/tcp': [{ HostIp: '127.0.0.1', HostPort: '6001' }],
          '9222/tcp': loopback,
          '8080/tcp': loopback,
        },
        Memory: 2 ** 30,
        MemorySwap: 2 ** 30,
        NanoCpus: 1.5e9,
        ShmSize: 64 * 2 ** 20,
        NetworkMode: 'net',
      },
    });
    expect(recipe().HostConfig).toMatchObject({ Memory: 2 * 2 ** 30 });
    expect(recipe().HostConfig).not.toHaveProperty('NanoCpus');
  });

  it('has a screen of a size', () => {
    expect(thrown(() => settings({ size: 'large' })).describe()).toBe(
      'docker, size: "large" is no size of a screen. Try: size=1280x800',
    );
  });
});

describe("a container of OSWorld's virtual machine", () => {
  it('has what its image asks for (reference/osworld.md §6)', () => {
    const made = recipe({ profile: 'osworld', qcow2, 'vm-memory': '6g', 'vm-cpus': 2 });
    expect(made).toMatchObject({
      Image: 'happysixd/osworld-docker',
      Env: ['DISK_SIZE=32G', 'RAM_SIZE=6G', 'CPU_CORES=2'],
      HostConfig: {
        CapAdd: ['NET_ADMIN'],
        Devices: [{ PathOnHost: '/dev/kvm', PathInContainer: '/dev/kvm' }],
        Mounts: [{ Type: 'bind', Source: qcow2, Target: '/System.qcow2', ReadOnly: true }],
      },
    });
    expect(Object.keys(made.HostConfig!.PortBindings as object)).toEqual([
      '5000/tcp',
      '9222/tcp',
      '8080/tcp',
      '8006/tcp',
    ]);
    expect(made.HostConfig).not.toHaveProperty('Memory');
    expect(settings({ profile: 'osworld', qcow2 }).bootTimeoutMs).toBe(300_000);
    expect(settings({ profile: 'osworld', qcow2 }).waits.afterResetMs).toBe(60_000);
  });

  it('does without KVM where that is wanted', () => {
    const made = recipe({ profile: 'osworld', qcow2, emulate: true, image: 'mine' }, 0, false);
    expect(made).toMatchObject({ Image: 'mine', HostConfig: { Devices: [] } });
    expect(made.Env).toContain('KVM=N');
  });

  it.each([
    [{}, true, 'OSWorld’s profile needs the disk of its virtual machine', 'Ubuntu.qcow2.zip'],
    [{ qcow2: '/no/such.qcow2' }, true, 'there is no such file', 'Ubuntu.qcow2.zip'],
    [{ qcow2 }, false, 'this machine has no /dev/kvm', 'emulate=true'],
    [{ qcow2, reset: 'session' }, true, 'cannot restart its session', 'reset=container'],
  ])('says what it lacks: %j', (given, kvm, message, hint) => {
    const error = thrown(() => settings({ profile: 'osworld', ...(given as Record<string, string>) }, kvm));
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  });
});
