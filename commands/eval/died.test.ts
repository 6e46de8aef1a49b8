import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { createEmbeddedGuest } from '../../lib/desktop/guest.ts';
import { type GuestServer, serveGuest } from '../../lib/guest/http_server.ts';
import { spec } from './spec.ts';

const TASK = join(packageRoot(), 'fixtures/tasks/embedded/vlc/vlc-loop.json');
const WAITS = 'after-reset=0,after-action=0,before-evaluate=0';

const servers: GuestServer[] = [];
afterAll(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A desktop behind a server, which goes away for good with the first file that an evaluation asks for. */
async function serve({ mortal }: { mortal: boolean }): Promise<string> {
  const desktop = createEmbeddedGuest(mortal ? 'mortal' : 'whole');
  let die = () => {};
  const guest = new Proxy(desktop, {
    get: (target, name) => {
      if (mortal && name === 'readFile') {
        return () => {
          die();
          return new Promise(() => {});
        };
      }
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const server = await serveGuest(guest);
  servers.push(server);
  die = () => void server.close();
  return server.url;
}

async function evaluate(urls: string[]) {
  const io = testIo();
  const argv = ['--tasks', TASK, '--policy', 'script', '--repeats', '1', '--env', `attach:${urls.join(',')},${WAITS}`];
  const code = await runCommand(spec, argv, io);
  return { code, err: io.err(), records: io.records() };
}

// At the same time, since a client asks a server that is gone three times, seconds apart.
describe.concurrent('a desktop that dies between the last step and the evaluation', () => {
  it('costs nothing where there is another', async () => {
    const { code, records, err } = await evaluate([await serve({ mortal: true }), await serve({ mortal: false })]);
    expect(code).toBe(0);
    expect(err).toMatch(/desktop .* (retired|replaced)/);
    expect(records).toMatchObject([
      { task_id: 'vlc-loop', score: 1 },
      { success_rate: 1, errored: 0 },
    ]);
  });

  it('is never a score of 0 where there is none', async () => {
    const { code, records, err } = await evaluate([await serve({ mortal: true })]);
    expect([1, 2]).toContain(code);
    expect(err).toMatch(/desktop .* (retired|replaced)|no desktop/);
    for (const record of records) expect(record.score ?? null).toBeNull();
  });
});
