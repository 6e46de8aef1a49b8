import { defineConfig } from 'vitest/config';

/**
 * Three kinds of test: `unit` beside the code, `native` for what loads the addon (forks, since a crash takes its
 * process along), `cli` for what starts the built commands as a user would.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 30_000,
    coverage: { provider: 'v8', include: ['lib/**/*.ts', 'commands/**/*.ts', 'native/**/*.ts'] },
    projects: [
      { extends: true, test: { name: 'unit', include: ['lib/**/*.test.ts'] } },
      { extends: true, test: { name: 'native', include: ['native/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'cli',
          include: ['commands/**/*.test.ts'],
          maxWorkers: 2,
          testTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
