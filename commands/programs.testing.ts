import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../lib/cli/paths.ts';
import { compile } from '../lib/store/compiled.testing.ts';

const FILES = { rollout: 'rollout/main', curate: 'curate/main', learner: 'learner.testing' } as const;

/** Commands compiled from the present sources, to be started as processes. */
export interface Programs {
  /** Path of the file to start with node. */
  path(name: keyof typeof FILES): string;
  remove(): void;
}

/** Compiles `dart-rollout`, `dart-curate` and the trainer of the crash test, with the addon beside them. */
export async function compilePrograms(): Promise<Programs> {
  const entries = Object.values(FILES).map((file) => `commands/${file}.ts`);
  const folder = await compile(...entries, 'native/index.ts');
  for (const name of ['binding.gyp', 'build']) {
    symlinkSync(join(packageRoot(), 'native', name), join(folder, 'native', name));
  }
  return {
    path: (name) => join(folder, 'commands', `${FILES[name]}.js`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Options of a `dart-rollout` whose rollouts are short, and of which some succeed and some do not. */
export function producerArgs(store: string, folder: string, more: readonly string[] = []): string[] {
  const tasks = ['chrome-turn-on-dark-pages', 'os-folder-garden', 'gimp-darker'];
  return [
    ...['--tasks', join(packageRoot(), 'fixtures/tasks/embedded'), ...tasks.flatMap((id) => ['--task', id])],
    ...['--policy', 'script:noise=0.3', '-n', '3', '--max-steps', '4', '--no-dynamic-rollouts', '--run-id', 'run'],
    ...['--follow', '--store', store, '--blobs', join(folder, 'blobs'), '--quiet', ...more],
  ];
}
