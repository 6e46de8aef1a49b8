import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { client } from './client.testing.ts';
import { Lab, until } from './lab.testing.ts';

const LONG_AGO = '2020-01-01T00:00:00.000000Z';

describe.skipIf(!client)('desktops of a namespace', { timeout: 120_000 }, () => {
  let lab: Lab;

  beforeEach(async () => {
    lab = await Lab.start();
  });

  afterEach(async () => {
    vi.useRealTimers();
    await lab.close();
    expect(lab.api.problems).toEqual([]);
  });

  /** As if the process that owns the desktops had been killed. */
  function killOwners(): void {
    for (const name of lab.names('leases')) {
      lab.api.store.update('leases', name, (lease) => Object.assign(lease.spec as object, { renewTime: LONG_AGO }));
    }
  }

  it('lists what runs, whoever started it', async () => {
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    lab.api.store.create('pods', { metadata: { name: 'database' } } as never, lab.api.namespace);
    const [member, ...more] = await lab.fleet().list();
    expect(more).toEqual([]);
    expect(member).toMatchObject({
      ...{ id: 'kubernetes-0', driver: 'kubernetes', run: 'run 7', state: 'ready', server_url: desktop.serverUrl },
      ...{ detached: false, orphan: false },
    });
    await desktop.close();
    expect(await lab.fleet().list()).toEqual([]);
  });

  it('calls desktops orphans when their owner renews no more, and removes them with its lease', async () => {
    await lab.driver(1).start(0, 'kubernetes-0');
    killOwners();
    const living = await lab.driver(1).start(0, 'kubernetes-0');
    const fleet = lab.fleet();
    const members = await fleet.list();
    expect(members.map(({ orphan }) => orphan).sort()).toEqual([false, true]);
    for (const member of members) if (member.orphan) await fleet.remove(member);
    expect(lab.names('leases')).toHaveLength(1);
    await until(() => lab.names('pods').length === 1);
    expect((await living.guest.execute(['true'])).returncode).toBe(0);
    await living.close();
    for (const member of members) await fleet.remove(member);
  });

  it('leaves the lease of an owner that came back', async () => {
    await lab.driver(1).start(0, 'kubernetes-0');
    killOwners();
    const fleet = lab.fleet();
    const members = await fleet.list();
    const [lease] = lab.names('leases');
    lab.api.store.update('leases', lease!, () => {});
    for (const member of members) await fleet.remove(member);
    expect(lab.names('leases')).toEqual([lease]);
  });

  it('renews the lease for as long as there are desktops', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    killOwners();
    vi.advanceTimersByTime(30_000);
    await until(() => lab.api.count('patch', 'leases') === 1);
    expect((await lab.fleet().list())[0]!.orphan).toBe(false);
    await desktop.close();
    vi.advanceTimersByTime(120_000);
    expect([lab.api.count('patch', 'leases'), lab.names('leases')]).toEqual([1, []]);
  });

  it('leaves detached desktops to whoever wants them', async () => {
    const desktop = await lab.driver(1, { detach: true }).start(0, 'kubernetes-0');
    await desktop.close();
    expect(lab.names('leases')).toEqual([]);
    const fleet = lab.fleet();
    const [member] = await fleet.list();
    expect(member).toMatchObject({ detached: true, orphan: false, server_url: desktop.serverUrl });
    await fleet.remove({ ...member! });
    await until(() => lab.names('pods').length === 0);
  });

  it('runs programs in a pod', async () => {
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    const fleet = lab.fleet();
    const [member] = await fleet.list();
    lab.api.exec = (_name, command) => ({ output: command.join('|'), error: 'Ärger', code: command.length });
    const result = await fleet.exec(member!, ['sh', '-c', 'a b & "ü"']);
    expect(result).toEqual({ output: 'sh|-c|a b & "ü"', error: 'Ärger', returncode: 3 });
    const told: string[] = [];
    const streamed = await fleet.exec(member!, ['ls'], {
      stdout: async (text) => void told.push(`out ${text}`),
      stderr: async (text) => void told.push(`err ${text}`),
    });
    expect([streamed, told.sort()]).toEqual([{ output: '', error: '', returncode: 1 }, ['err Ärger', 'out ls']]);
    const refused = 'error executing command in container: exec: "nano": executable file not found in $PATH';
    lab.api.exec = () => ({ output: '', error: '', code: 0, refused });
    expect(await fleet.exec(member!, ['nano'])).toEqual({
      ...{ output: '', error: 'there is no program nano in the desktop\n', returncode: 127 },
    });
    lab.api.exec = () => ({ output: '', error: '', code: 0 });
    expect((await fleet.exec(member!, ['true'])).returncode).toBe(0);
    lab.api.rules = [{ apiGroups: [''], resources: ['pods', 'leases'], verbs: ['list', 'delete'] }];
    await expect(fleet.exec(member!, ['true'])).rejects.toThrow('does not allow us to create pods/exec');
    lab.api.rules = null;
    await desktop.close();
    await expect(fleet.exec({ ...member! }, ['true'])).rejects.toThrow('there is no such desktop');
  });

  it('reads logs, to their end or as they come', async () => {
    const desktop = await lab.driver(1).start(0, 'kubernetes-0');
    const fleet = lab.fleet();
    const [member] = await fleet.list();
    lab.api.log = () => ['one', 'two', 'drei ü'];
    const read = async (options: { follow?: boolean; tail?: number; signal?: AbortSignal }, enough = 1e9) => {
      let text = '';
      for await (const piece of fleet.logs(member!, options)) {
        text += piece;
        if (text.length >= enough) break;
      }
      return text;
    };
    expect(await read({})).toBe('one\ntwo\ndrei ü\n');
    expect(await read({ tail: 1 })).toBe('drei ü\n');
    expect(await read({ follow: true }, 15)).toBe('one\ntwo\ndrei ü\n');
    const stop = new AbortController();
    const following = read({ follow: true, signal: stop.signal });
    await until(() => lab.api.count('get', 'pods/log') === 4);
    stop.abort();
    expect('one\ntwo\ndrei ü\n').toContain(await following);
    const broken = read({ follow: true });
    const failed = broken.catch((error: unknown) => error);
    await until(() => lab.api.count('get', 'pods/log') === 5);
    lab.api.dropConnections();
    expect(String(await failed)).toContain('does not answer');
    await desktop.close();
    await expect(read({})).rejects.toThrow('there is no such thing');
  });
});
