import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimHome } from './home.ts';
import { missingPrograms } from './machine.ts';
import { startGuest } from './program.ts';
import { Session } from './session.ts';
import { desktopUser } from './user.ts';
import { processesOf, xvfb } from './xvfb.testing.ts';

const SIZE = { width: 320, height: 240 };
/** Debian has this user, who may do nothing. */
const NOBODY = 'nobody';

describe('a home folder', () => {
  it('is never one with files of somebody else', () => {
    const home = mkdtempSync(join(tmpdir(), 'dart-home-'));
    writeFileSync(join(home, 'thesis.tex'), 'x');
    expect(() => claimHome(home, desktopUser())).toThrow('this folder has files, and a desktop would remove them');
    expect(readdirSync(home)).toEqual(['thesis.tex']);
    rmSync(home, { recursive: true });
  });
});

describe.skipIf(!xvfb)('a session', { timeout: 120_000 }, () => {
  it('keeps a home that it was given, and empties it when it comes again', async () => {
    const home = join(mkdtempSync(join(tmpdir(), 'dart-home-')), 'new', 'home');
    const options = { where: 'kept', size: SIZE, user: desktopUser(), home };
    const first = await Session.start(options);
    writeFileSync(join(home, 'left.txt'), 'x');
    mkdirSync(join(home, 'Desktop', 'folder'));
    await first.close();
    expect(readdirSync(home)).toEqual(expect.arrayContaining(['Desktop', 'left.txt']));
    const second = await Session.start(options);
    expect(readdirSync(home)).not.toContain('left.txt');
    expect(readdirSync(join(home, 'Desktop'))).toEqual([]);
    await second.close();
    rmSync(home, { recursive: true });
  });

  it('leaves nothing when a part does not start', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'dart-temporary-'));
    vi.stubEnv('TMPDIR', temporary);
    const options = { where: 'bad', size: SIZE, user: desktopUser(), skeleton: '/no/such/skeleton' };
    await expect(Session.start(options)).rejects.toThrow(/the home folder cannot be made: .*\/no\/such\/skeleton/);
    vi.unstubAllEnvs();
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  });

  it('opens plain text in an editor, whatever else is installed, unless the skeleton says otherwise', async () => {
    const skeleton = mkdtempSync(join(tmpdir(), 'dart-skeleton-'));
    mkdirSync(join(skeleton, '.config'));
    writeFileSync(join(skeleton, '.config', 'mimeapps.list'), '[Default Applications]\ntext/plain=own.desktop\n');
    const listOf = async (more: object) => {
      const session = await Session.start({ where: 'mime', size: SIZE, user: desktopUser(), ...more });
      const { output } = await session.programs.run(['cat', '.config/mimeapps.list']);
      const opens = await session.programs.run(['xdg-mime', 'query', 'default', 'text/plain']);
      await session.close();
      return { output, opens: opens.output };
    };
    const usual = await listOf({});
    expect(usual.output).toMatch(/^text\/plain=(org\.gnome\.gedit\.desktop;)?org\.xfce\.mousepad\.desktop;$/m);
    expect(usual.opens).toMatch(/gedit|mousepad/);
    expect((await listOf({ skeleton })).output).toContain('=own.desktop');
    rmSync(skeleton, { recursive: true });
  });

  it('starts what it is told with every session', async () => {
    const start = ['echo "$DISPLAY" >> "$XDG_RUNTIME_DIR/started"'];
    const session = await Session.start({ where: 'start', size: SIZE, user: desktopUser(), start });
    const look = [
      'sh',
      '-c',
      'until [ -s "$XDG_RUNTIME_DIR/started" ]; do sleep 0.05; done; cat "$XDG_RUNTIME_DIR/started"',
    ];
    expect((await session.programs.run(look)).output).toBe(`${session.display}\n`);
    await session.restart();
    expect((await session.programs.run(look)).output).toBe(`${session.display}\n`);
    await session.close();
    expect(processesOf(session.id)).toEqual([]);
  });
});

describe.skipIf(!xvfb || process.getuid?.() !== 0)('a desktop of another user', { timeout: 120_000 }, () => {
  let running: Awaited<ReturnType<typeof startGuest>>;
  beforeAll(async () => {
    expect(missingPrograms()).toEqual([]);
    running = await startGuest({ id: 'rights', port: 0, size: SIZE, user: NOBODY });
  }, 120_000);
  afterAll(async () => running?.close());

  it('runs all of its programs as that user, in a home of the user’s own', async () => {
    const { guest } = running;
    const { output } = await guest.execute('id -un; id -G | wc -w; touch ~/mine && stat -c %U ~ ~/mine', {
      shell: true,
    });
    expect(output).toBe(`${NOBODY}\n1\n${NOBODY}\n${NOBODY}\n`);
    expect((await guest.screenshot()).width).toBe(SIZE.width);
    expect((await guest.accessibility()).role).toBe('desktop-frame');
    await guest.reset(0);
    expect(await guest.readFile('~/mine')).toBeNull();
  });

  it('reads and writes only what that user may', async () => {
    const { guest } = running;
    await expect(guest.readFile('/etc/shadow')).rejects.toThrow(
      "cannot read /etc/shadow: head: cannot open '/etc/shadow' for reading: Permission",
    );
    await expect(guest.writeFile('/etc/dart-test', Buffer.from('x'))).rejects.toThrow('cannot write /etc/dart-test');
    await guest.execute('ln -s /etc/shadow ~/link', { shell: true });
    await expect(guest.readFile('~/link')).rejects.toThrow('Permission denied');
    expect((await guest.runBash('cat /etc/shadow')).returncode).toBe(1);
    expect((await guest.runPython('open("/etc/dart-test", "w")')).error).toContain('PermissionError');
    await guest.writeFile('~/a/b', Buffer.from('x'));
    expect((await guest.execute(['stat', '-c', '%U', '/home/user/a/b'])).output).toBe(`${NOBODY}\n`);
  });

  it('reads no file that has no end, or more than there is room for', async () => {
    const { guest } = running;
    await expect(guest.readFile('/dev/zero')).rejects.toThrow('cannot read /dev/zero: it is no regular file');
    await guest.execute('truncate -s 257M large && mkfifo pipe');
    await expect(guest.readFile('~/large')).rejects.toThrow('/large: it has more than 268435456 bytes');
    await expect(guest.readFile('~/pipe')).rejects.toThrow('/pipe: it is no regular file');
    // It has no size, and content all the same.
    expect(Buffer.from((await guest.readFile('/proc/version'))!).toString()).toContain('Linux');
  });

  it('says that arguments are too long', async () => {
    await expect(running.guest.execute(['echo', 'x'.repeat(200_000)])).rejects.toThrow(
      'the arguments of echo are longer than the system takes',
    );
  });

  it('keeps the first part of what a program prints without end, and says so', async () => {
    const { guest } = running;
    const { output, error, returncode } = await guest.execute('yes | head -c 17000000; echo careful >&2');
    expect([output.length, returncode]).toEqual([16 * 2 ** 20, 0]);
    expect(error).toBe('careful\nonly the first 16 MiB of what it printed were kept; a file takes all of it\n');
  });

  it('cannot reach what belongs to the server', async () => {
    const { guest } = running;
    const { folder } = guest.session;
    const tries = [`ls ${folder}`, `touch ${folder}/x`, `touch ${folder}/server/x`, `rm -r ${folder}/python`];
    for (const line of tries) expect((await guest.execute(line, { shell: true })).returncode).not.toBe(0);
  });
});
