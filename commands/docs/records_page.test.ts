import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { spec as rollout } from '../rollout/spec.ts';

const read = (folder: string) =>
  readdirSync(join(packageRoot(), folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));

describe('tasks in the docs', () => {
  it('are tasks of the fixtures', () => {
    const tasks = read('fixtures/tasks').filter((path) => path.endsWith('.json'));
    const known = new Set(tasks.map((path) => basename(path, '.json')));
    const pages = ['README.md', ...read('docs').filter((path) => path.endsWith('.md'))];
    const named = pages.flatMap((path) => {
      const text = readFileSync(join(packageRoot(), path), 'utf8');
      // With a hyphen: `t1` and the like stand for any task.
      const ids = [...text.matchAll(/(?:"task_id": ?"|--(?:id|task) )([a-z]\w*-[\w-]+)/g)].map(([, id]) => id!);
      return ids.map((id) => ({ path, id }));
    });
    expect(named.map(({ id }) => id)).toContain('chrome-bookmark-tea');
    expect(named.filter(({ id }) => !known.has(id))).toEqual([]);
  });
});

describe('docs/records.md', () => {
  it.each([
    ['a wrong policy', ['--policy', 'onnx:/nowhere/a.onnx']],
    ['a wrong store', ['--policy', 'random', '--store', 'sqlite:/dev/null']],
    ['no tasks', ['--policy', 'random', '--tasks', '-']],
  ])('says that nothing is written where dart-rollout fails before it begins: %s', async (_, more) => {
    const io = testIo();
    const tasks = more.includes('--tasks') ? [] : ['--tasks', join(packageRoot(), 'fixtures/tasks/embedded/vlc')];
    expect(await runCommand(rollout, [...tasks, ...more, '--env', 'embedded:1', '--quiet'], io)).toBe(2);
    expect(io.records()).toEqual([]);
    expect(io.err()).not.toBe('');
  });
});
