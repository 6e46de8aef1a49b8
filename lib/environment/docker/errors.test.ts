import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createEmbeddedGuest } from '../../desktop/guest.ts';
import { DartError } from '../../errors.ts';
import { type GuestServer, serveGuest } from '../../guest/http_server.ts';
import { openDocker } from './driver.ts';
import { dockerError } from './errors.ts';
import { type Answer, type Asked, FakeDocker, ID } from './fake_docker.testing.ts';
import { dockerValues } from './values.testing.ts';

const fakes: FakeDocker[] = [];
const servers: GuestServer[] = [];
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close();
  for (const server of servers.splice(0)) await server.close();
});

async function fakeDocker(answer: (asked: Asked) => Answer = () => undefined): Promise<FakeDocker> {
  const fake = await new FakeDocker(answer).start();
  fakes.push(fake);
  return fake;
}

/** A container as `inspect` tells of it; its guest server, if it has one, is on this port. */
const container = (state: object, port?: number, memory = 0) => ({
  Id: ID,
  State: { Running: true, OOMKilled: false, ExitCode: 0, ...state },
  HostConfig: { Memory: memory },
  NetworkSettings: { Ports: port ? { '5000/tcp': [{ HostIp: '127.0.0.1', HostPort: String(port) }] } : {} },
});

/** What the error says, when a desktop is asked of Docker. */
async function failure(fake: { host: string }, given: Record<string, string | number> = {}): Promise<DartError> {
  const driver = async () =>
    (await openDocker(1, dockerValues({ host: fake.host, ...given }), { runId: 'r' })).start(0, 'docker-0');
  const error = await driver().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DartError);
  return error as DartError;
}

const says = (words: string) => (asked: Asked) =>
  asked.path.endsWith('/start') ? { status: 500, body: { message: words } } : undefined;

describe('what goes wrong with Docker', () => {
  it('is that there is none, or none that answers', async () => {
    const fake = await fakeDocker();
    const missing = await failure({ host: `${fake.host}-not` });
    expect(missing.describe()).toBe(
      `docker: there is no Docker at ${fake.host.slice(7)}-not. Try: apt install docker.io and its daemon started, or DOCKER_HOST`,
    );
    // A file on which nobody listens, as a daemon that was killed leaves.
    writeFileSync(`${fake.host.slice(7)}-dead`, '');
    expect((await failure({ host: `${fake.host}-dead` })).message).toContain('no Docker answers at');
    expect((await failure({ host: 'tcp://docker.example.org:2375' })).hint).toContain('the command on that machine');
    expect((await failure({ host: 'docker.sock' })).message).toBe('cannot use "docker.sock"');
  });

  it('is that the socket is not for this user', () => {
    const refused = Object.assign(new Error('connect EACCES'), { code: 'EACCES', address: '/var/run/docker.sock' });
    expect(dockerError(refused, 'answer', 'docker').describe()).toBe(
      'docker: no permission to use Docker at /var/run/docker.sock. Try: sudo usermod -aG docker $USER and a new login, or root',
    );
  });

  it('is an image that is not there, with the command that builds it', async () => {
    const fake = await fakeDocker(({ path }) =>
      path.startsWith('/images/') ? { status: 404, body: { message: 'No such image' } } : undefined,
    );
    expect((await failure(fake)).describe()).toBe(
      'docker: there is no image dart-desktop:slim. Try: dart-env build-image --variant slim',
    );
    expect((await failure(fake, { image: 'dart-desktop:full' })).hint).toBe('dart-env build-image --variant full');
    expect((await failure(fake, { image: 'mine' })).hint).toBe('dart-env build-image --variant slim --tag mine');
  });

  it('is a port that is taken, of which a free one is tried again', async () => {
    const words =
      'driver failed programming external connectivity: Bind for 127.0.0.1:6000 failed: port is already allocated';
    const fake = await fakeDocker(says(words));
    const error = await failure(fake, { 'first-port': 6000 });
    expect(error.describe()).toContain('docker-0: port 6000 is taken. Try: first-port=0');
    const starts = () => fake.calls.filter((call) => call.endsWith('/start')).length;
    const removals = () => fake.calls.filter((call) => call.startsWith('DELETE')).length;
    expect(starts()).toBeGreaterThan(1);
    expect(removals()).toBe(starts());
  });

  it.each([
    ['write /data/overlay2/x: no space left on device', "the disk of Docker's data is full", 'docker system prune'],
    ['Minimum memory limit allowed is 6MB', 'there is not enough memory for it', 'memory=SIZE'],
    ['Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available', 'has not so many cores', 'cpus=N'],
    [
      'error gathering device information while adding custom device "/dev/kvm"',
      'there is no /dev/kvm',
      'emulate=true',
    ],
    ['all predefined address pools have been fully subnetted', 'no addresses left', 'docker network prune'],
  ])('is said with what to do: %s', async (words, message, hint) => {
    const fake = await fakeDocker(says(words));
    const error = await failure(fake);
    expect(error.message).toContain(message);
    expect(error.message).toContain(words);
    expect(error.hint).toContain(hint);
    expect(fake.calls.at(-1)).toBe(`DELETE /containers/${ID}`);
  });

  it('is handed on as Docker says it where it is nothing known', async () => {
    const error = await failure(await fakeDocker(says('the moon is wrong')));
    expect(error.describe()).toBe('docker-0: Docker could not start a container: the moon is wrong');
  });

  it('is a container that ended while it was starting, with its last words', async () => {
    const line = Buffer.from('guest_server: no screen\n');
    const header = Buffer.from([2, 0, 0, 0, 0, 0, 0, line.length]);
    const fake = await fakeDocker(({ path }) => {
      if (path.endsWith('/json') && path.startsWith('/containers/')) {
        return { status: 200, body: container({ Running: false, ExitCode: 2 }) };
      }
      return path.endsWith('/logs') ? { status: 200, body: Buffer.concat([header, line]).toString() } : undefined;
    });
    expect((await failure(fake)).describe()).toBe(
      `docker-0: its container ${ID.slice(0, 12)} ended with exit code 2; it logged last:\nguest_server: no screen`,
    );
  });

  it('is a desktop that gives no screenshot in time', async () => {
    const fake = await fakeDocker(({ path }) =>
      path === `/containers/${ID}/json` ? { status: 200, body: container({}, 1) } : undefined,
    );
    const error = await failure(fake, { 'boot-timeout': 1 });
    expect(error.message).toMatch(/^it gave no screenshot within 1 s: /);
    expect(error.hint).toContain('boot-timeout');
  });

  it('is a memory that ran out in the middle of a call', async () => {
    const guest = createEmbeddedGuest('embedded');
    const server = await serveGuest(guest, { port: 0 });
    servers.push(server);
    const port = Number(new URL(server.url).port);
    let running = true;
    const fake = await fakeDocker(({ path }) => {
      if (path !== `/containers/${ID}/json`) return undefined;
      const state = running ? {} : { Running: false, OOMKilled: true, ExitCode: 137 };
      return { status: 200, body: container(state, port, 2 * 2 ** 30) };
    });
    const driver = await openDocker(1, dockerValues({ host: fake.host }), { runId: 'r' });
    const desktop = await driver.start(0, 'docker-0');
    expect((await desktop.guest.screenshot()).width).toBe(160);
    running = false;
    await server.close();
    servers.pop();
    const error = (await desktop.guest.execute('ls').catch((thrown: unknown) => thrown)) as DartError;
    expect(error.describe()).toBe(
      `docker-0: its container ${ID.slice(0, 12)} ran out of its 2048 MiB of memory (exit code 137). Try: more with memory=4g, or fewer desktops`,
    );
    await desktop.close();
  });

  it('is no error where another command makes the network, or removes the container', async () => {
    const guest = createEmbeddedGuest('embedded');
    const server = await serveGuest(guest, { port: 0 });
    servers.push(server);
    const fake = await fakeDocker(({ method, path }) => {
      if (path === '/networks/create') return { status: 409, body: { message: 'network exists' } };
      if (method === 'DELETE') return { status: 404, body: { message: 'No such container' } };
      const inspected = container({}, Number(new URL(server.url).port));
      return path === `/containers/${ID}/json` ? { status: 200, body: inspected } : undefined;
    });
    const driver = await openDocker(1, dockerValues({ host: fake.host }), { runId: 'r' });
    const desktop = await driver.start(0, 'docker-0');
    expect(desktop.serverUrl).toBe(server.url);
    await desktop.close();
  });
});
