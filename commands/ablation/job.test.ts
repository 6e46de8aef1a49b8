import { afterEach, describe, expect, it, vi } from 'vitest';
import { ARMS } from './arms.ts';
import { trainingPiece } from './job.ts';
import { trainingOf } from './plan.ts';
import { NO_FIGURES, runTraining } from './run.ts';
import { settingsFrom } from './settings.ts';

vi.mock('./run.ts', async (original) => ({ ...(await original<typeof import('./run.ts')>()), runTraining: vi.fn() }));
afterEach(() => vi.resetAllMocks());

describe('a training', () => {
  const arm = ARMS.find(({ name }) => name === 'full')!;
  const training = trainingOf(settingsFrom({ RUN_DIR: 'RUN' }), arm, 3, { path: 'base.onnx', sha256: 'f00' });

  it.each([
    [0, ['full, seed 3: no update was made in time; what is measured is the policy that it began with']],
    [1, []],
  ])('that has made %i updates says so', async (updates, lines) => {
    const end = { cuts: {}, figures: { ...NO_FIGURES, updates } };
    vi.mocked(runTraining).mockResolvedValue(end);
    const said: string[] = [];
    expect(await trainingPiece('full', training, (line) => said.push(line)).train()).toBe(end);
    expect(said).toEqual(lines);
  });
});
