import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DartError } from '../../errors.ts';
import { fail } from './api_server.testing.ts';
import { client } from './client.testing.ts';
import { Lab, QuickClock, until } from './lab.testing.ts';
import type { Stored } from './store.testing.ts';
import { PodWatch, type Sight, type WatchListener } from './watch.ts';

class Notes implements WatchListener {
  readonly phases: string[] = [];
  error: DartError | null = null;

  saw({ pod, gone }: Sight): void {
    this.phases.push(gone ? 'gone' : (pod.status?.phase ?? 'new'));
  }

  blind(error: DartError): void {
    this.error = error;
  }
}

describe.skipIf(!client)('the watch on our pods', { timeout: 120_000 }, () => {
  let lab: Lab;
  let watch: PodWatch;

  beforeEach(async () => {
    lab = await Lab.start(new QuickClock());
    watch = new PodWatch(lab.cluster, 'me');
  });

  afterEach(async () => {
    await watch.stop();
    await lab.close();
    expect(lab.api.problems).toEqual([]);
  });

  /** A pod as if it had been created through the API, and what is seen of it. */
  function make(name: string, owner = 'me'): { notes: Notes; pod: Stored } {
    const metadata = { name, labels: { 'dart.owner': owner } };
    const pod = lab.api.store.create('pods', { metadata } as never, lab.api.namespace);
    const notes = new Notes();
    watch.follow(pod as never, notes);
    return { notes, pod };
  }

  const phase = (name: string, phase: string) => lab.kubelet.status(name, { phase });

  it('sees what is there, what comes, and what goes', async () => {
    const { notes } = make('a');
    await watch.start();
    await until(() => lab.api.watching === 1);
    phase('a', 'Running');
    await until(() => notes.phases.includes('Running'));
    lab.api.store.remove('pods', 'a');
    await until(() => notes.phases.includes('gone'));
    expect(notes.phases.filter((one) => one !== 'new')).toEqual(['Running', 'gone']);
  });

  it('goes on where it was when the connection breaks, and misses nothing', async () => {
    const { notes } = make('a');
    await watch.start();
    await until(() => lab.api.watching === 1);
    phase('a', 'Pending');
    await until(() => notes.phases.includes('Pending'));
    const lists = lab.api.count('list', 'pods');
    lab.api.refuse = ({ verb }) => (verb === 'watch' ? fail(503, 'ServiceUnavailable', 'starting') : null);
    lab.api.dropWatches();
    await until(() => lab.api.watching === 0);
    phase('a', 'Running');
    phase('a', 'Failed');
    lab.api.refuse = () => null;
    await until(() => notes.phases.includes('Failed'));
    expect(notes.phases.slice(-3)).toEqual(['Pending', 'Running', 'Failed']);
    expect(lab.api.count('list', 'pods')).toBe(lists);
  });

  it('goes on from a bookmark where nothing of its own has happened for long', async () => {
    await watch.start();
    await until(() => lab.api.watching === 1);
    make('theirs', 'other');
    lab.api.store.compact();
    lab.api.bookmark();
    const [lists, watches] = [lab.api.count('list', 'pods'), lab.api.count('watch', 'pods')];
    lab.api.endWatches();
    await until(() => lab.api.count('watch', 'pods') > watches && lab.api.watching === 1);
    await until(() => lab.api.watching === 1);
    expect(lab.api.count('list', 'pods')).toBe(lists);
  });

  it('lists again after 410 Gone, and counts what is missing as gone', async () => {
    const kept = make('kept');
    const lost = make('lost');
    await watch.start();
    await until(() => lab.api.watching === 1);
    const lists = lab.api.count('list', 'pods');
    lab.api.refuse = ({ verb }) => (verb === 'watch' ? fail(503, 'ServiceUnavailable', 'starting') : null);
    lab.api.dropWatches();
    await until(() => lab.api.watching === 0);
    lab.api.store.remove('pods', 'lost');
    phase('kept', 'Running');
    lab.api.store.compact();
    lab.api.refuse = () => null;
    await until(() => lost.notes.phases.includes('gone') && kept.notes.phases.includes('Running'));
    expect(lab.api.count('list', 'pods')).toBe(lists + 1);
    expect(kept.notes.phases).not.toContain('gone');
  });

  it('does not take a pod for gone that was made while the list was under way', async () => {
    lab.api.refuse = ({ verb }) => {
      if (verb !== 'list') return null;
      lab.api.refuse = () => null;
      // The list has been put together without it; nobody has answered yet.
      const pod = { metadata: { name: 'late', namespace: 'desktops', labels: { 'dart.owner': 'me' } } };
      watch.follow(pod as never, late);
      return null;
    };
    const late = new Notes();
    await watch.start();
    await until(() => lab.api.watching === 1);
    expect(late.phases).toEqual(['new']);
  });

  it('reads long lists page by page', async () => {
    for (let i = 0; i < 501; i++) make(`pod-${i}`);
    const { notes } = make('last');
    phase('last', 'Running');
    await watch.start();
    expect(notes.phases).toContain('Running');
    expect(lab.api.count('list', 'pods')).toBe(2);
  });

  it('says so where it may not watch', async () => {
    lab.api.rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];
    const { notes } = make('a');
    await watch.start();
    await until(() => notes.error !== null);
    expect(notes.error!.message).toContain('does not allow us to watch pods');
    expect(notes.error!.hint).toContain('docs/kubernetes/rbac.yaml');
  });
});
