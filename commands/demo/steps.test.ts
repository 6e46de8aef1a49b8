import { expect, it } from 'vitest';
import { baseSteps, demoSteps } from './steps.ts';

it('trains on the CPU, which the figures of the demo are of, also where there is a GPU', () => {
  const lines = [...demoSteps({ seed: 1, seconds: 540, dir: 'runs/demo' }), ...baseSteps('runs/base')]
    .flatMap(({ command }) => command.split('\n'))
    .filter((line) => line.includes('bin/dart-train') && !/dart-train (init|export)|--max-updates 0/.test(line));
  expect(lines.length).toBe(2);
  for (const line of lines) expect(line).toContain(' --device cpu ');
});
