import { afterEach, describe, expect, it } from 'vitest';
import type { DartError } from '../../errors.ts';
import { checkDocker, dockerAt } from './client.ts';
import { type Answer, type Asked, FakeDocker, ID } from './fake_docker.testing.ts';
import { DockerFleet } from './fleet.ts';

const fakes: FakeDocker[] = [];
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close();
});

async function fakeDocker(answer: (asked: Asked) => Answer): Promise<FakeDocker> {
  const fake = await new FakeDocker(answer).start();
  fakes.push(fake);
  return fake;
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: DartError) => error.describe(),
  );

describe('a Docker that takes connections and does not answer', () => {
  it('is told of, whatever it is asked', async () => {
    const fake = await fakeDocker(() => 'hang');
    const docker = dockerAt(fake.host, 100);
    const said =
      'docker: Docker does not answer within 0.1 s. Try: docker info; if that hangs too, its daemon started anew (systemctl restart docker)';
    expect(await failure(checkDocker(docker))).toBe(said);
    expect(await failure(new DockerFleet(docker).list())).toBe(said);
  });

  it('does not hold up the removal of a container', async () => {
    const listed = {
      Id: ID,
      Labels: { 'dart.env': 'docker-0', 'dart.run': 'r' },
      Ports: [],
      Created: 0,
      State: 'running',
      Status: 'Up',
    };
    const fake = await fakeDocker(({ method, path }) =>
      method === 'DELETE' ? 'hang' : path === '/containers/json' ? { status: 200, body: [listed] } : undefined,
    );
    const fleet = new DockerFleet(dockerAt(fake.host, 2000));
    const [member] = await fleet.list();
    expect(await failure(fleet.remove(member!))).toContain('Docker does not answer within 4 s');
  });

  it('is waited for where that is the question: the end of a container', async () => {
    let asked = () => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const fake = await fakeDocker(({ path }) => {
      if (path.endsWith('/wait')) asked();
      return path === '/_ping' || path.endsWith('/wait') ? 'hang' : undefined;
    });
    const docker = dockerAt(fake.host, 100);
    const stop = new AbortController();
    const waited = docker.getContainer(ID).wait({ abortSignal: stop.signal });
    const ended = failure(waited.catch((error: Error) => Promise.reject({ describe: () => error.name })));
    await arrived;
    // A question has run out of its time by now; the wait has not, and ends as it is told to.
    expect(await failure(checkDocker(docker))).toContain('does not answer');
    stop.abort();
    expect(await ended).toBe('AbortError');
  });
});
