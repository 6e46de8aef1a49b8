import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { FakeDocker } from '../../lib/environment/docker/fake_docker.testing.ts';
import { DartError } from '../../lib/errors.ts';
import { run } from './doctor.ts';
import { examine, type Probe } from './probe.ts';
import { PROBES } from './probes.ts';

const probe = (name: string, look: Probe['look'], required = false): Probe => {
  return { name, needed_for: 'something', hint: 'get it', look, required };
};

describe('dart-env doctor', () => {
  it('tells what is there, what is not, and why', async () => {
    const io = testIo();
    const code = await run({ io, options: {}, positionals: [] } as never, [
      probe('here', async () => 'version 1', true),
      probe('gone', async () => null),
      probe('shut', () => Promise.reject(new DartError('not for this user', { hint: 'the group docker' }))),
    ]);
    expect(code).toBe(0);
    expect(io.records()).toMatchObject([
      { event: 'doctor', name: 'here', state: 'ok', detail: 'version 1' },
      { event: 'doctor', name: 'gone', state: 'missing', detail: 'not found', hint: 'get it' },
      { event: 'doctor', name: 'shut', state: 'missing', detail: 'not for this user', hint: 'the group docker' },
      { type: 'summary', ok: 1, missing: 2 },
    ]);
    expect(io.err()).toContain('the group docker');
  });

  it("measures the disk that Docker's data is on", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dart-docker-data-'));
    const fake = await new FakeDocker(({ path }) =>
      path === '/info' ? { status: 200, body: { DockerRootDir: folder } } : undefined,
    ).start();
    vi.stubEnv('DOCKER_HOST', fake.host);
    const disk = PROBES.find(({ name }) => name === 'disk')!;
    const said = await disk.look().catch((error: Error) => error.message);
    expect(said).toMatch(new RegExp(`GB free at ${folder}$`));
    vi.unstubAllEnvs();
    await fake.close();
    rmSync(folder, { recursive: true });
  });

  it('says no where a part that every command needs is missing', async () => {
    const io = testIo();
    expect(await run({ io, options: {}, positionals: [] } as never, [probe('node', async () => null, true)])).toBe(1);
  });

  it('looks for what each kind of desktop needs, and a look never fails', async () => {
    const names = ['docker', 'desktop-image', 'disk', 'kvm', 'xvfb', 'chromium', 'kubeconfig'];
    expect(PROBES.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    const findings = await Promise.all(PROBES.filter(({ name }) => names.includes(name)).map(examine));
    for (const { state, detail, hint } of findings)
      expect([state, detail !== '', hint !== '']).toEqual([state, true, true]);
  });
});
