import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { DartError } from '../../errors.ts';
import type { BuildOptions } from './build/options.ts';
import { type BuiltImage, buildImage } from './build.ts';
import { type Answer, type Asked, FakeDocker } from './fake_docker.testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-build-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let fake: FakeDocker | undefined;
afterEach(() => fake?.close());

const told: string[] = [];

async function build(answer: (asked: Asked) => Answer, given: Partial<BuildOptions> = {}): Promise<BuiltImage> {
  told.length = 0;
  fake = await new FakeDocker(answer).start();
  const options: BuildOptions = {
    variant: 'office',
    tag: 'mine:1',
    base: 'debian:12',
    mirror: 'http://mirror.example.org/debian',
    securityMirror: 'http://mirror.example.org/security',
    host: fake.host,
    tell: (line) => told.push(line),
    progress: (text) => told.push(text),
    ...given,
  };
  return buildImage(options, () => ({ folder, remove: () => {} }));
}

/** What Docker writes while it builds: one JSON object a line. */
const lines = (...events: object[]) => ({
  status: 200,
  body: events.map((event) => `${JSON.stringify(event)}\r\n`).join(''),
});
const failing =
  (...events: object[]) =>
  (asked: Asked) =>
    asked.path === '/build' ? lines(...events) : undefined;

async function failure(answer: (asked: Asked) => Answer, given: Partial<BuildOptions> = {}): Promise<string> {
  const error = await build(answer, given).then(
    () => null,
    (thrown: unknown) => thrown as DartError,
  );
  return error!.describe();
}

describe('building the image', () => {
  it('asks Docker for the variant, and tells how far it is', async () => {
    const built = await build(
      failing(
        { stream: 'Step 3/30 : RUN sh /opt/dart/install guest slim\n' },
        { stream: 'Unpacking gedit (1) ...\nSetting up gedit (1) ...\n' },
        { aux: { ID: 'sha256:1' } },
      ),
    );
    expect(built).toMatchObject({ image: 'mine:1', base: 'debian:12', changed: false });
    expect(told).toContain('step 3 of 30, 1 packages unpacked, 1 installed');
    const { query } = fake!.asked.find(({ path }) => path === '/build')!;
    expect(JSON.parse(query.get('buildargs')!)).toEqual({
      BASE: 'debian:12',
      VARIANT: 'office',
      MIRROR: 'http://mirror.example.org/debian',
      SECURITY_MIRROR: 'http://mirror.example.org/security',
    });
    expect([query.get('t'), query.get('networkmode')]).toEqual(['mine:1', 'host']);
  });

  it('says that the disk is full, or that the network cannot be reached, in the words of the step', async () => {
    const step = { stream: 'Step 3/30 : RUN sh /opt/dart/install guest slim\n' };
    const code = { error: "The command '/bin/sh -c sh /opt/dart/install' returned a non-zero code: 100" };
    expect(await failure(failing(step, { stream: "W: Could not resolve 'mirror.example.org'\n" }, code))).toBe(
      'docker, step 3 of 30: Docker could not build the image: the network cannot be reached. Try: the connection, its proxy, and --mirror for a build',
    );
    await fake!.close();
    expect(await failure(failing(step, { stream: 'dpkg: error: No space left on device\n' }, code))).toContain(
      "the disk of Docker's data is full. Try: docker system df",
    );
    await fake!.close();
    expect(await failure(failing(step, { stream: 'E: Unable to locate package nonsense\n' }, code))).toMatch(
      /returned a non-zero code: 100; the last lines of the build:\nStep 3\/30 .*\nE: Unable to locate package nonsense$/,
    );
  });

  it('does not take a build that breaks off for one that succeeds', async () => {
    expect(await failure(failing({ stream: 'Step 3/30 : RUN\n' }))).toContain('Docker ended before the build did');
  });

  it('says that the base cannot be pulled', async () => {
    const noBase = ({ path }: Asked): Answer => {
      if (path === '/images/debian:12/json') return { status: 404, body: { message: 'No such image' } };
      if (path !== '/images/create') return undefined;
      return { status: 500, body: { message: 'Get "https://registry.example.org/v2/": no such host' } };
    };
    expect(await failure(noBase)).toContain('Docker could not pull debian:12: the network cannot be reached');
    expect(fake!.calls).not.toContain('POST /build');
  });

  it('says that there is no Docker before it does anything', async () => {
    expect(await failure(() => undefined, { host: 'unix:///no/docker.sock' })).toContain('there is no Docker at');
    expect(told).toEqual([]);
  });
});
