import { afterEach, describe, expect, it } from 'vitest';
import { dockerAt } from './client.ts';
import { runInContainer } from './exec.ts';
import { type Answer, FakeDocker, ID } from './fake_docker.testing.ts';

const fakes: FakeDocker[] = [];
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close();
});

const frame = (stream: number, text: string) => `${String.fromCharCode(stream, 0, 0, 0, 0, 0, 0, text.length)}${text}`;

/** A container in which a program prints this, or cannot be started. */
async function containerThat(start: Answer, code: number) {
  const fake = await new FakeDocker(({ path }) => {
    if (path.endsWith('/start')) return start;
    return path.endsWith('/json') ? { status: 200, body: { ExitCode: code } } : undefined;
  }).start();
  fakes.push(fake);
  return dockerAt(fake.host).getContainer(ID);
}

describe('a program in a container', () => {
  it('prints into the result, or where it is told to', async () => {
    const printed = { status: 200, body: frame(1, 'one\n') + frame(2, 'careful\n') + frame(1, 'two\n') };
    const container = await containerThat(printed, 3);
    expect(await runInContainer(container, ['ls'])).toEqual({
      output: 'one\ntwo\n',
      error: 'careful\n',
      returncode: 3,
    });
    const told: string[] = [];
    const sinks = {
      stdout: async (text: string) => void told.push(`out ${text}`),
      stderr: async (text: string) => void told.push(`err ${text}`),
    };
    expect(await runInContainer(container, ['ls'], sinks)).toEqual({ output: '', error: '', returncode: 3 });
    expect(told).toEqual(['out one\n', 'err careful\n', 'out two\n']);
  });

  const refusal = 'OCI runtime exec failed: unable to start';
  const missing = `${refusal}: exec: "nano": executable file not found in $PATH: unknown`;
  it.each<[string, Answer]>([
    ['in its output', { status: 200, body: frame(1, missing) }],
    ['in its answer', { status: 400, body: { message: missing } }],
  ])('is none where Docker says so %s', async (_, answer) => {
    expect(await runInContainer(await containerThat(answer, 126), ['nano'])).toEqual({
      ...{ output: '', error: 'there is no program nano in the desktop\n', returncode: 127 },
    });
  });

  it('is told of where it cannot be started, on stderr', async () => {
    const denied = `${refusal}: exec: "/etc": permission denied: unknown`;
    const container = await containerThat({ status: 200, body: frame(1, denied) }, 126);
    expect(await runInContainer(container, ['/etc'])).toEqual({
      ...{ output: '', error: `/etc could not be started: ${denied}\n`, returncode: 126 },
    });
  });
});
