import { join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { makeFolderSync } from '../../lib/stream/files.ts';
import { playSteps, say } from './play.ts';
import { BASE, baseSteps } from './steps.ts';

/** `make base`: makes the demo's base policy anew, from noisy experts. */
const dir = process.env.RUN_DIR ?? join('runs', 'base');
makeFolderSync(dir);
playSteps(baseSteps(dir)).then(
  (code) => {
    process.exitCode = code;
    if (code === 0)
      say(
        `${BASE} is made; \`bin/dart-eval --tasks fixtures/tasks/embedded --policy onnx:${BASE}\` says what it is worth`,
      );
  },
  (error) => {
    say(messageOf(error));
    process.exitCode = 2;
  },
);
