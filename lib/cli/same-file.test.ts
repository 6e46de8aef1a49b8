import { linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMON_OPTIONS, OUTPUT_OPTIONS } from './common.ts';
import { testIo } from './io.testing.ts';
import { openOutput } from './output.ts';
import { packageRoot } from './paths.ts';
import { runCommand } from './run.ts';
import type { CommandSpec } from './spec.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-same-'));
  writeFileSync(join(cwd, 'in'), 'precious');
});
afterEach(() => rmSync(cwd, { recursive: true }));

const spec: CommandSpec = {
  name: 'dart-try',
  summary: 'Try things',
  options: [
    { name: 'tasks', type: 'string', value: 'FILE', describe: 'Tasks to try' },
    { name: 'html', type: 'string', value: 'FILE', describe: 'Page to write' },
    { name: 'cursor', type: 'string', value: 'NAME', describe: 'Where to go on' },
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [{ name: 'files', describe: 'What to read', multiple: true }],
  subcommands: [{ name: 'explain', summary: 'Explain', options: [], run: async () => 7 }],
  run: async (context) => {
    await openOutput(context);
    return 0;
  },
};

async function attempt(...argv: string[]) {
  const io = testIo({ cwd });
  return { code: await runCommand(spec, argv, io), err: io.err(), kept: readFileSync(join(cwd, 'in'), 'utf8') };
}

describe('an output that is an input', () => {
  it.each([
    ['the same name', ['in', '-o', 'in']],
    ['another spelling', ['./in', '-o', '.././{}/in']],
    ['a link', ['other', 'in', '-o', 'symbolic']],
    ['a hard link', ['hard', '-o', 'in']],
    ['an option’s file', ['--tasks', 'in', '-o', 'in']],
    ['another output option', ['in', '--html', 'in']],
  ])('is refused by %s and stays whole', async (_name, argv) => {
    writeFileSync(join(cwd, 'other'), '');
    symlinkSync('in', join(cwd, 'symbolic'));
    linkSync(join(cwd, 'in'), join(cwd, 'hard'));
    const { code, err, kept } = await attempt(...argv.map((word) => word.replace('{}', cwd.split('/').at(-1)!)));
    expect([code, kept]).toEqual([2, 'precious']);
    expect(err).toContain('input file is output file. Try: an output with another name');
  });

  it('is none where only a name is the same, or the files differ', async () => {
    expect((await attempt('--cursor', 'in', '-o', 'in')).code).toBe(0);
    writeFileSync(join(cwd, 'in'), 'precious');
    expect(await attempt('in', '-o', 'out')).toMatchObject({ code: 0, kept: 'precious' });
    expect((await attempt('/dev/null', '-o', 'out')).code).toBe(0);
  });

  it('is found behind standard input, too', () => {
    const program = join(packageRoot(), 'bin/dart-curate');
    const { exitCode, stderr } = execaSync('sh', ['-c', `"${program}" -o in < in`], { cwd, reject: false });
    expect([exitCode, readFileSync(join(cwd, 'in'), 'utf8')]).toEqual([2, 'precious']);
    expect(stderr).toContain('--output in, standard input: input file is output file');
  });
});

describe('a mistyped subcommand', () => {
  it('is told from a file that is not there', async () => {
    const { code, err } = await attempt('explian');
    expect(code).toBe(2);
    expect(err).toContain("there is no file and no subcommand 'explian'. Try: dart-try explain\n");
  });

  it('is a file where there is one of that name', async () => {
    writeFileSync(join(cwd, 'explian'), '');
    expect((await attempt('explian')).code).toBe(0);
    expect((await attempt('missing.ndjson')).code).toBe(0);
  });
});
