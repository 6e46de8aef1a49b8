import { defineConfig } from 'vitest/config';

/**
 * Three kinds of test: `unit` beside the code, `native` for what loads the addon (forks, since a crash takes its
 * process along), `cli` for what starts the built commands as a user would. The limits are for tests that hang: no test
 * may depend on how fast the machine is.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000,
    coverage: { provider: 'v8', include: ['lib/**/*.ts', 'commands/**/*.ts', 'native/**/*.ts'] },
    projects: [
      { extends: true, test: { name: 'unit', include: ['lib/**/*.test.ts'] } },
      { extends: true, test: { name: 'native', include: ['native/**/*.test.ts'], testTimeout: 120_000 } },
      {
        extends: true,
        test: {
          name: 'cli',
          include: ['commands/**/*.test.ts'],
          maxWorkers: 2,
          testTimeout: 240_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
