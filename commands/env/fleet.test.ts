import { describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import type { CommandContext, CommandSpec } from '../../lib/cli/spec.ts';
import { Interrupted } from '../../lib/cli/stop.ts';
import { type DriverKind, type Fleet, type FleetMember, NotSetUp } from '../../lib/environment/kind.ts';
import { DartError } from '../../lib/errors.ts';
import { run as down } from './down.ts';
import { run as exec } from './exec.ts';
import { FLEET_COMMANDS } from './fleet_spec.ts';
import { run as list } from './list.ts';
import { run as logs } from './logs.ts';
import { openDesktop } from './target.ts';

const member = (id: string, parts: Partial<FleetMember> = {}): FleetMember => ({
  ...{ id, driver: 'boxes', run: 'night', state: 'ready', server_url: null },
  ...{ created_at: `2026-01-01T00:00:0${id.at(-1)}Z`, detached: false, orphan: false },
  ...parts,
});

/** A kind whose desktops are a list; what is done to them is written down. */
function boxes(members: FleetMember[], fails: string[] = []) {
  const done: string[] = [];
  const fleet: Fleet = {
    list: async () => members,
    remove: async ({ id }) => {
      if (fails.includes(id)) throw new DartError('the daemon is busy', { where: id });
      done.push(`remove ${id}`);
    },
    async *logs({ id }, { follow, tail }) {
      yield `${id} follow=${follow} tail=${tail}\n`;
      yield 'second line\n';
    },
    exec: async ({ id }, command) => ({ output: `${id}: ${command.join('|')}\n`, error: 'careful\n', returncode: 3 }),
    close: async () => void done.push('close'),
  };
  return { kind: kind('boxes', async () => fleet), done };
}

function kind(name: string, fleet: DriverKind['fleet']): DriverKind {
  const open = () => Promise.reject(new Error('never'));
  return { name, summary: 'For tests', options: [], detachable: true, open, fleet };
}

const COMMANDS = { down, exec, list, logs };

async function env(name: keyof typeof COMMANDS, kinds: DriverKind[], ...args: string[]) {
  return envWith(testIo(), name, kinds, ...args);
}

async function envWith(
  io: ReturnType<typeof testIo>,
  name: keyof typeof COMMANDS,
  kinds: DriverKind[],
  ...args: string[]
) {
  const spec = FLEET_COMMANDS.find((command) => command.name === name) as CommandSpec;
  const run = (context: CommandContext) => COMMANDS[name](context, kinds);
  return { code: await runCommand({ ...spec, run }, args, io), ...io };
}

/** The exit code of a command that is stopped while the engine has it wait for ever. */
async function stoppedWhile(name: keyof typeof COMMANDS, stuck: 'list' | 'remove', ...args: string[]): Promise<number> {
  const stop = new AbortController();
  const never = () => {
    setImmediate(() => stop.abort(new Interrupted('SIGTERM')));
    return new Promise<never>(() => {});
  };
  const fleet = { list: async () => [member('box-1')], close: async () => {}, [stuck]: never } as unknown as Fleet;
  const io = testIo({ signal: stop.signal });
  return (await envWith(io, name, [kind('boxes', async () => fleet)], ...args)).code;
}

describe('a command whose engine does not answer', () => {
  it('ends at the first signal', async () => {
    expect(await stoppedWhile('list', 'list')).toBe(143);
    expect(await stoppedWhile('down', 'list', '--all')).toBe(143);
    expect(await stoppedWhile('down', 'remove', '--all')).toBe(143);
    expect(await stoppedWhile('exec', 'list', 'box-1', 'ls')).toBe(143);
  });
});

const three = () =>
  boxes([
    member('box-2', { run: 'day', orphan: true, state: 'exited' }),
    member('box-1', { detached: true }),
    member('box-3', { run: 'day', state: 'starting' }),
  ]);

describe('a kind that this machine is not set up for', () => {
  const never = kind('clouds', () => Promise.reject(new NotSetUp('there is no account')));
  const clouds = { ...never, options: [{ name: 'context', type: 'string', describe: 'Which', fleet: true } as const] };

  it('is told of where a name is not found, and else only to those who ask for it', async () => {
    const quiet = await env('list', [three().kind, clouds]);
    expect([quiet.code, quiet.err()]).toEqual([0, '']);
    const missing = await env('logs', [three().kind, clouds], 'box-9');
    expect([missing.code, missing.err()]).toEqual([
      ...[2, expect.stringContaining('box-9: no desktop of this name (not looked at: clouds: there is no account)')],
    ]);
    const asked = await env('list', [three().kind, clouds], '--context', 'mine');
    expect([asked.code, asked.err()]).toEqual([2, expect.stringContaining('there is no account')]);
  });
});

describe('dart-env list', () => {
  it('prints what runs, the oldest first', async () => {
    const { kind: own, done } = three();
    const { code, records, err } = await env('list', [own], '--table');
    expect(code).toBe(0);
    expect(records()).toMatchObject([
      { type: 'env', env_id: 'box-1', state: 'ready', run_id: 'night', detached: true, orphan: false },
      { type: 'env', env_id: 'box-2', state: 'stopped', run_id: 'day', orphan: true },
      { type: 'env', env_id: 'box-3', state: 'starting' },
      { type: 'summary', desktops: 3, orphans: 1 },
    ]);
    expect(err()).toMatch(/box-1.*detached[\s\S]*box-2.*orphan[\s\S]*box-3.*in use/);
    expect(done).toEqual(['close']);
  });

  it('leaves out what is not asked for', async () => {
    const ids = async (...args: string[]) => {
      const { records } = await env('list', [three().kind], ...args);
      return records().flatMap(({ env_id }) => env_id ?? []);
    };
    expect(await ids('--run', 'day')).toEqual(['box-2', 'box-3']);
    expect(await ids('--orphans')).toEqual(['box-2']);
  });

  it('says which kind could not be looked at, and fails where none could', async () => {
    const away = kind('away', () => Promise.reject(new DartError('no daemon', { where: 'away', hint: 'start it' })));
    const some = await env('list', [away, three().kind]);
    expect([some.code, some.err()]).toEqual([
      0,
      'dart-env: away was not looked at: away: no daemon. Try: start it\n'.replace('dart-env', 'list'),
    ]);
    const none = await env('list', [away]);
    expect([none.code, none.out(), none.err()]).toEqual([
      2,
      '',
      expect.stringContaining('away: no daemon. Try: start it'),
    ]);
  });
});

describe('dart-env down', () => {
  it.each([
    [['--orphans'], ['box-2']],
    [
      ['--run', 'day'],
      ['box-2', 'box-3'],
    ],
    [
      ['box-1', 'box-3'],
      ['box-1', 'box-3'],
    ],
    [
      ['box-1', '--orphans'],
      ['box-1', 'box-2'],
    ],
    [['--all'], ['box-1', 'box-2', 'box-3']],
    [['--run', 'never'], []],
  ])('%j removes %j and no other', async (args, removed) => {
    const { kind: own, done } = three();
    const { code, records } = await env('down', [own], ...args);
    expect(code).toBe(0);
    expect(done).toEqual([...removed.map((id) => `remove ${id}`), 'close']);
    expect(records()).toMatchObject([
      ...removed.map((env_id) => ({ type: 'env', env_id, state: 'stopped' })),
      { type: 'summary', removed: removed.length, failed: 0 },
    ]);
  });

  it('removes nothing where nothing says what, where a name is unknown, and with --dry-run', async () => {
    const { kind: own, done } = three();
    const bare = await env('down', [own]);
    expect([bare.code, bare.err()]).toEqual([2, expect.stringContaining('Try: ENV, --run ID, --orphans or --all')]);
    const unknown = await env('down', [own], 'box-1', 'box-9');
    expect([unknown.code, unknown.err()]).toEqual([
      2,
      expect.stringContaining('box-9: no desktop of this name. Try: dart-env list'),
    ]);
    const dry = await env('down', [own], '--all', '--dry-run');
    expect([dry.code, dry.err()]).toEqual([0, expect.stringContaining('3 desktops would be removed')]);
    expect(done.filter((line) => line !== 'close')).toEqual([]);
  });

  it('goes on where one cannot be removed, and says so', async () => {
    const { kind: own } = boxes([member('box-1'), member('box-2')], ['box-1']);
    const { code, err, records } = await env('down', [own], '--all');
    expect([code, err()]).toEqual([
      2,
      expect.stringContaining('box-1 could not be removed: box-1: the daemon is busy'),
    ]);
    expect(records().at(-1)).toMatchObject({ removed: 1, failed: 1 });
  });
});

describe('dart-env logs and exec', () => {
  it('prints the log as it is', async () => {
    const { code, out } = await env('logs', [three().kind], 'box-1', '--follow', '--tail', '5');
    expect([code, out()]).toEqual([0, 'box-1 follow=true tail=5\nsecond line\n']);
  });

  it('runs a program, and ends as it ends', async () => {
    const { code, out, err } = await env('exec', [three().kind], 'box-1', '--', 'ls', '-la', '--help');
    expect([code, out(), err()]).toEqual([3, 'box-1: ls|-la|--help\n', 'careful\n']);
  });
});

describe('a desktop named on the command line', () => {
  const open = (name: string, members: FleetMember[]) => {
    const context = { io: testIo(), options: {}, positionals: [name] } as never;
    return openDesktop(context, [boxes(members).kind]);
  };

  it('is found by its name, and has to have a server', async () => {
    await expect(open('box-1', [member('box-1', { state: 'exited' })])).rejects.toMatchObject({
      message: 'this desktop has no server now: it is exited',
      hint: 'dart-env logs box-1',
    });
    await expect(open('box-9', [])).rejects.toMatchObject({ message: '"box-9" is no desktop' });
  });
});
