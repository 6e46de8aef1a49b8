import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, it } from 'vitest';
import { torchPython } from '../../lib/stream/torch.testing.ts';

/** For what hangs: a file imports PyTorch, perhaps in several processes, on a machine with other work. */
const LIMIT_MS = 600_000;

const folder = join(import.meta.dirname, 'tests');
const files = readdirSync(folder).filter((name) => /^test_\w+\.py$/.test(name));

interface Outcome {
  case: string;
  result: 'passed' | 'failed' | 'skipped';
  detail: string;
}

interface Run<Line> {
  lines: Line[];
  /** What it left on stderr, and how it ended. */
  end: string;
  ok: boolean;
}

/** One Python for a whole file, since importing PyTorch takes seconds. */
function runner<Line>(python: string, ...args: string[]): Promise<Run<Line>> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, [join(folder, 'runner.py'), '--attached', ...args], {
      cwd: folder,
      // A group of its own, so that what it started ends with it, and it with this process.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        PYTHONPATH: [import.meta.dirname, folder].join(delimiter),
        PYTHONDONTWRITEBYTECODE: '1',
        OMP_NUM_THREADS: '1',
        HF_HUB_OFFLINE: '1',
        HF_HUB_DISABLE_PROGRESS_BARS: '1',
        TOKENIZERS_PARALLELISM: 'false',
      },
    });
    const killGroup = () => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    const timer = setTimeout(killGroup, LIMIT_MS - 10_000);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr = (stderr + text).slice(-20_000);
    });
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(timer);
      killGroup();
    });
    child.on('close', (code, signal) => {
      const lines = stdout.split('\n').filter(Boolean);
      const end = `${stderr}\nrunner.py ${args.join(' ')} ended with ${signal ?? code}`;
      resolve({ lines: lines.map((line) => JSON.parse(line)), end, ok: code === 0 });
    });
  });
}

/** An error that shows Python's words, without the place in this file. */
function failure(message: string): Error {
  const error = new Error(message);
  error.stack = message;
  return error;
}

/** `Class: test name`. */
function titleOf(name: string): string {
  return name.replace('.test_', ': ').replaceAll('_', ' ');
}

const listed = torchPython
  ? await runner<{ file: string; cases: string[] }>(torchPython, '--list', ...files)
  : { lines: files.map((file) => ({ file, cases: ['all cases'] })), end: '', ok: true };
if (!listed.ok) throw failure(listed.end);

describe.skipIf(!torchPython)('the torch engine in Python', () => {
  for (const { file, cases } of listed.lines) {
    describe(file, () => {
      let run: Run<Outcome>;
      beforeAll(async () => {
        run = await runner(torchPython!, file);
      }, LIMIT_MS);

      for (const name of cases) {
        it(titleOf(name), (context) => {
          // `setUpClass (test_batches.Plan)` tells what kept a class from its cases.
          const outcome =
            run.lines.find((line) => line.case === name) ??
            run.lines.find((line) => line.case.endsWith(`.${name.split('.')[0]})`));
          if (!outcome) throw failure(run.end);
          if (outcome.result === 'failed') throw failure(outcome.detail);
          if (outcome.result === 'skipped') context.skip(outcome.detail);
        });
      }

      it('ends well', () => {
        if (!run.ok) throw failure(run.end);
      });
    });
  }
});
