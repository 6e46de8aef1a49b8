import { randomBytes } from 'node:crypto';
import { DartError } from '../../../errors.ts';
import { type FetchedFile, isFile } from '../../context.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { Unsupported } from '../../unsupported.ts';
import { expectedFiles } from '../input.ts';

/** How long a test suite may take, ms. */
const LIMIT_MS = 100_000;

/**
 * The task's test file runs in the desktop, in a new folder with the files that the agent wrote, and its function
 * (option `test_function_name`, default `test`) says the score: true or false, or a number 0..1. A suite that breaks
 * is a 0, as it runs the agent's code; one that is no Python or lacks the function is an error of the task. Nothing of it
 * runs on this machine.
 */
const testSuite: Metric = async (input) => {
  const { guest } = input;
  if (guest === undefined) {
    throw new Unsupported(`metric ${input.name} runs a test suite in a desktop, and there is none`, {
      where: input.where,
    });
  }
  const test = expectedFiles(input)[0]!;
  const mark = randomBytes(12).toString('hex');
  const folder = `/tmp/dart-tests-${mark}`;
  const files = [...agentFiles(input.result), { ...test, name: `${mark}.py` }];
  const made = await guest.execute(['mkdir', '-p', folder]);
  if (made.returncode !== 0) throw failed(input, made.error);
  try {
    for (const { name, bytes } of files) await guest.writeFile(`${folder}/${plainName(name)}`, bytes);
    const code = runner(folder, mark, input.options.text('test_function_name', 'test'));
    const ran = await guest.runPython(code, { timeoutMs: LIMIT_MS });
    const said = new RegExp(`^${mark} (\\S+)$`, 'm').exec(ran.output)?.[1];
    const wrong = new RegExp(`^${mark}:suite (.*)$`, 'm').exec(ran.output)?.[1];
    if (wrong !== undefined) {
      const message = `metric ${input.name}: the test suite ${test.name} cannot be run: ${wrong}`;
      throw new DartError(message, { where: input.where });
    }
    // Only code that ends Python itself says nothing: the agent's, which the suite imports.
    if (said === undefined && !ran.output.includes(`${mark}:start`)) throw failed(input, ran.error || ran.output);
    return Math.max(0, Math.min(1, Number(said ?? 0)));
  } finally {
    await guest.execute(['rm', '-rf', folder]);
  }
};

function failed(input: MetricInput, reason: string): DartError {
  const message = `metric ${input.name}: the desktop cannot run Python: ${reason.trim().slice(-200)}`;
  return new DartError(message, { where: input.where, hint: 'a desktop with python3' });
}

function agentFiles(result: unknown): FetchedFile[] {
  const files = (Array.isArray(result) ? result : [result]).filter(isFile);
  return files.flatMap((file) => [file, ...(file.beside ?? [])]);
}

function plainName(name: string): string {
  return name.split('/').at(-1) || 'file';
}

/** Python that imports the test file and prints the mark with the score. */
function runner(folder: string, mark: string, name: string): string {
  const text = (value: string) => JSON.stringify(value);
  return [
    'import importlib, os, sys',
    `os.chdir(${text(folder)})`,
    `sys.path.insert(0, ${text(folder)})`,
    'sys.dont_write_bytecode = True',
    'try:',
    `    compile(open(${text(`${mark}.py`)}, encoding="utf-8").read(), "the suite", "exec")`,
    'except (SyntaxError, ValueError) as wrong:',
    `    print(${text(`${mark}:suite`)}, wrong, flush=True)`,
    '    sys.exit()',
    `print(${text(`${mark}:start`)}, flush=True)`,
    'score = 0.0',
    'try:',
    `    suite = importlib.import_module(${text(mark)})`,
    `    if not hasattr(suite, ${text(name)}):`,
    `        print(${text(`${mark}:suite`)}, "it has no function", ${text(name)}, flush=True)`,
    `    said = getattr(suite, ${text(name)})()`,
    '    score = float(said) if isinstance(said, (bool, int, float)) else float(bool(said))',
    'except BaseException:',
    '    pass',
    `print("\\n" + ${text(mark)}, score if score == score else 0.0, flush=True)`,
  ].join('\n');
}

/** Test suites. */
export const pythonTestMetrics: Record<string, Metric> = { check_python_file_by_test_suite: testSuite };
