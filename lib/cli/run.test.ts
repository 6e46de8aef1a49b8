import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { outputError, ReaderGone } from '../stream/writer.ts';
import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from './common.ts';
import { readInputs } from './input.ts';
import { testIo } from './io.testing.ts';
import { logOf } from './log.ts';
import { openOutput } from './output.ts';
import { runCommand } from './run.ts';
import type { CommandContext, CommandSpec } from './spec.ts';
import { Interrupted } from './stop.ts';
import { UsageError } from './usage.ts';

let seen: CommandContext | undefined;

function command(run: (context: CommandContext) => Promise<number> = async () => 0): CommandSpec {
  return {
    name: 'dart-try',
    summary: 'Try things',
    options: [
      { name: 'tasks', type: 'string', value: 'FILE', describe: 'Tasks to try' },
      { name: 'repeats', alias: 'n', type: 'integer', value: 'N', min: 1, max: 9, default: 4, describe: 'How often' },
      { name: 'temperature', type: 'number', min: 0, describe: 'How warm' },
      { name: 'tis', type: 'boolean', default: true, describe: 'Truncate' },
      { name: 'id', type: 'string', multiple: true, describe: 'Which ones' },
      { name: 'mode', type: 'string', choices: ['fast', 'slow'], describe: 'How to go' },
      ...OUTPUT_OPTIONS,
      ...COMMON_OPTIONS,
      DRY_RUN_OPTION,
    ],
    positionals: [{ name: 'files', describe: 'What to read', multiple: true }],
    subcommands: [{ name: 'score', summary: 'Score them', options: [], run: async () => 7 }],
    examples: [{ command: 'dart-try -n 2 tasks.ndjson', describe: 'twice' }],
    run: async (context) => {
      seen = context;
      return run(context);
    },
  };
}

async function attempt(argv: string[], parts: Parameters<typeof testIo>[0] = {}, spec = command()) {
  const io = testIo(parts);
  seen = undefined;
  const code = await runCommand(spec, argv, io);
  return { code, io, options: (seen as CommandContext | undefined)?.options, err: io.err() };
}

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-cli-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('options', () => {
  it('takes numbers, negations, repeated lists, - as a value and - as a file', async () => {
    const argv = ['-n', '2', '--temperature', '.5', '--no-tis', '--id', 'a', '--id', 'b', '--tasks', '-', '-'];
    const { code, options } = await attempt(argv);
    expect(code).toBe(0);
    expect(options).toMatchObject({ repeats: 2, temperature: 0.5, tis: false, id: ['a', 'b'], tasks: '-' });
    expect(seen?.positionals).toEqual(['-']);
  });

  it('takes everything after -- as a file', async () => {
    await attempt(['--', '--odd', '-x']);
    expect(seen?.positionals).toEqual(['--odd', '-x']);
  });

  it.each([
    [['--tempurature', '1'], 'dart-try: unknown option --tempurature. Try: --temperature'],
    [['--temp', '1'], 'dart-try: unknown option --temp. Try: --temperature'],
    [['--xyzzy'], 'dart-try: unknown option --xyzzy. Try: dart-try --help'],
    [['-x'], 'dart-try: unknown option -x. Try: dart-try --help'],
    [['-n', 'abc'], "dart-try: --repeats: expected an integer, 1 to 9, but received 'abc'"],
    [['-n', '1.5'], "dart-try: --repeats: expected an integer, 1 to 9, but received '1.5'"],
    [['-n', '10'], "dart-try: --repeats: expected an integer, 1 to 9, but received '10'"],
    [
      ['--seed', '9007199254740992'],
      "dart-try: --seed: '9007199254740992' is too large to be told from its neighbours: the limit is 9007199254740991 (2^53 - 1)",
    ],
    [['--temperature', '-1'], "dart-try: --temperature: expected a number, at least 0, but received '-1'"],
    [['--temperature', 'Infinity'], "dart-try: --temperature: expected a number, at least 0, but received 'Infinity'"],
    [['-n', '1', '-n', '2'], 'dart-try: --repeats: given 2 times. Try: one value'],
    [['--tis', '--no-tis'], 'dart-try: --no-tis: given as --tis and as --no-tis'],
    [['--tasks'], 'dart-try: --tasks needs a value'],
    [['--tasks', '--quiet'], 'dart-try: --tasks needs a value'],
    [['--tasks='], 'dart-try: --tasks: expected FILE but received nothing'],
    [['--mode', 'quick'], "dart-try: --mode: expected fast or slow but received 'quick'"],
    [['-q', 'score'], 'dart-try: the subcommand score comes first. Try: dart-try score …'],
  ])('refuses %j with a message that names it', async (argv, message) => {
    const { code, err } = await attempt(argv);
    expect(err.split('\n')).toEqual([message, 'Usage: dart-try [OPTION]... [FILES...]', '']);
    expect([code, seen]).toEqual([2, undefined]);
  });

  it('goes by flag, then environment, then config file, then default', async () => {
    const config = join(dir, 'config.json');
    writeFileSync(config, JSON.stringify({ repeats: 6, mode: 'slow', tis: false, 'dart-try': { mode: 'fast' } }));
    const env = { XDG_CONFIG_HOME: dir, DART_REPEATS: '5', DART_TIS: 'yes', DART_ID: 'a,b' };
    const argv = ['--config', config, '--print-config'];
    expect((await attempt([...argv, '-n', '3'], { env })).io.records()[0]).toMatchObject({
      type: 'event',
      event: 'config',
      options: {
        repeats: { value: 3, origin: 'flag', from: '--repeats' },
        tis: { value: true, origin: 'environment', from: 'DART_TIS' },
        id: { value: ['a', 'b'], origin: 'environment' },
        mode: { value: 'fast', origin: 'config', from: `${config}: mode` },
        'log-level': { value: 'info', origin: 'default' },
        temperature: { value: null, origin: 'unset' },
      },
    });
    expect((await attempt(argv, { env })).io.records()[0]).toMatchObject({ options: { repeats: { value: 5 } } });
    expect((await attempt(argv)).io.records()[0]).toMatchObject({ options: { repeats: { value: 6 } } });
    expect(seen).toBe(undefined);
  });

  it('reads the default config file where there is one, and not from a relative XDG path', async () => {
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(dir, 'dart'));
    writeFileSync(join(dir, 'dart/config.json'), '{"repeats": 8, "repeat": 1, "unrelated": 1}');
    const { options, err } = await attempt([], { env: { XDG_CONFIG_HOME: dir } });
    expect(options?.repeats).toBe(8);
    expect(err).toBe("dart-try: warning: config.json: 'repeat' is no option of this command. Try: repeats\n");
    const relative = await attempt([], { env: { XDG_CONFIG_HOME: '.', HOME: '/nonexistent' }, cwd: dir });
    expect(relative.options?.repeats).toBe(4);
  });

  it.each([
    ['{"dart-try": {"repeat": 1}}', "config.json: unknown option 'repeat'. Try: repeats"],
    ['{"repeats": "many"}', "config.json: repeats: expected an integer, 1 to 9, but received 'many'"],
    ['{\n"repeats": 1\n', 'config.json:2: not JSON: '],
    ['[]', 'config.json: expected a JSON object. Try: {"temperature": 0.7}'],
  ])('says what is wrong with the config file %s', async (text, message) => {
    writeFileSync(join(dir, 'config.json'), text);
    const { code, err } = await attempt(['--config', 'config.json'], { cwd: dir });
    expect(err).toContain(`dart-try: ${message}`);
    expect(code).toBe(2);
  });

  it.each([
    [
      new UsageError("'x' is no task", { where: '--tasks', hint: '--tasks a' }),
      "DART_TASKS: 'x' is no task. Try: --tasks a",
    ],
    [new DartError('odd', { where: '--mode, --tasks x' }), 'config.json: mode, DART_TASKS x: odd'],
    [
      new DartError('--temperature and --tasks exclude each other'),
      '--temperature and --tasks exclude each other (from DART_TASKS)',
    ],
    [
      new DartError('--no-tis and --mode exclude each other'),
      '--no-tis and --mode exclude each other (from DART_TIS, config.json: mode)',
    ],
    [new DartError('too warm', { where: '--temperature' }), '--temperature: too warm'],
    [new DartError('odd', { where: 'a--tasks b' }), 'a--tasks b: odd'],
  ])('says of what an option is no good where its value came from: %s', async (error, message) => {
    writeFileSync(join(dir, 'config.json'), '{"mode": "fast", "temperature": 3}');
    const failing = command(async () => {
      throw error;
    });
    const env = { DART_TASKS: 'x', DART_TIS: '0' };
    const argv = ['--config', 'config.json', '--temperature', '2'];
    const { code, err } = await attempt(argv, { cwd: dir, env }, failing);
    expect([code, err.split('\n')[0]]).toEqual([2, `dart-try: ${message}`]);
    const json = await attempt([...argv, '--log-format', 'json'], { cwd: dir, env }, failing);
    const { where, message: said } = JSON.parse(json.err);
    expect(where === undefined ? said : `${where}: ${said}`).toBe(message.split('. Try')[0]);
  });

  it('says that a config file that was asked for is missing', async () => {
    const { err } = await attempt(['--config', 'none.json'], { cwd: dir });
    expect(err).toContain('none.json: cannot read the config file: no such file or folder');
  });

  it('takes DART_NO_X for a switch', async () => {
    const off = await attempt(['--print-config'], { env: { DART_NO_TIS: '1', DART_NO_TABLE: '0' } });
    expect(off.io.records()[0]).toMatchObject({
      options: {
        tis: { value: false, origin: 'environment', from: 'DART_NO_TIS' },
        table: { value: true, origin: 'environment', from: 'DART_NO_TABLE' },
      },
    });
    expect((await attempt(['--tis'], { env: { DART_NO_TIS: '1' } })).options?.tis).toBe(true);
    const spec = { ...command(), options: [{ name: 'no-tis', type: 'boolean', describe: 'Plain' } as const] };
    expect((await attempt([], { env: { DART_NO_TIS: '1' } }, spec)).options).toEqual({ 'no-tis': true });
    const both = await attempt([], { env: { DART_NO_TIS: '1', DART_TIS: '1' } });
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('given as DART_TIS and as DART_NO_TIS')]);
  });

  it('warns of a variable that is almost an option, and of no other', async () => {
    const env = { DART_TEMPURATURE: '1', DART_NO_TSI: '1', DART_SHARED: '/s', DART_UNRELATED: '1', DART_DI: '1' };
    expect((await attempt([], { env })).err.split('\n')).toEqual([
      'dart-try: warning: the variable DART_NO_TSI is no option of this command. Try: DART_NO_TIS',
      'dart-try: warning: the variable DART_TEMPURATURE is no option of this command. Try: DART_TEMPERATURE',
      '',
    ]);
    const sub = { name: 'score', summary: 'Score', options: [{ name: 'repeat', type: 'integer', describe: 'x' }] };
    const spec = { ...command(), subcommands: [sub as CommandSpec] };
    expect((await attempt([], { env: { DART_REPEAT: '2' } }, spec)).err).toBe('');
  });

  it('names the whole command where an argument is missing', async () => {
    const positionals = [{ name: 'before', describe: 'The first', required: true }];
    const score: CommandSpec = { name: 'score', summary: 'Score', options: [], positionals, run: async () => 0 };
    const { code, err } = await attempt(['score'], {}, { ...command(), subcommands: [score] });
    expect([code, err]).toEqual([2, expect.stringContaining('BEFORE is missing. Try: dart-try score --help\n')]);
  });

  it('does not print passwords', async () => {
    const { io } = await attempt(['--print-config', '--tasks', 'mysql://me:secret@host/db']);
    expect(io.out()).toContain('mysql://me:***@host/db');
  });
});

describe('runCommand', () => {
  it('shows help on stdout, of the subcommand that is named', async () => {
    const help = await attempt(['--tempurature', '-h']);
    expect([help.code, help.io.err()]).toEqual([0, '']);
    expect(help.io.out()).toContain('  -n, --repeats N         How often (1 to 9; default 4)\n');
    expect(help.io.out()).toContain('      --[no-]tis          Truncate (default on)\n');
    expect((await attempt(['score', '--help'])).io.out()).toMatch(/^dart-try score - Score them\n/);
    expect((await attempt(['--version'])).io.out()).toMatch(/^dart-try \d+\.\d+\.\d+\n$/);
  });

  it('hands back what the command or its subcommand hands back', async () => {
    expect(
      (
        await attempt(
          [],
          {},
          command(async () => 1),
        )
      ).code,
    ).toBe(1);
    expect((await attempt(['score'])).code).toBe(7);
  });

  it('names the subcommand that was probably meant', async () => {
    const bare: CommandSpec = { ...command(), run: undefined };
    expect((await attempt(['scor'], {}, bare)).err).toContain("unknown subcommand 'scor'. Try: dart-try score");
    expect((await attempt([], {}, bare)).code).toBe(2);
  });

  it('shows a short help where there is nothing to read and stdin is a terminal', async () => {
    const reads = command(async (context) => {
      for await (const _ of readInputs(context));
      return 0;
    });
    const terminal = Object.assign(Readable.from([]), { isTTY: true });
    const { code, err } = await attempt([], { stdin: terminal }, reads);
    expect(code).toBe(2);
    expect(err).toContain('Usage: dart-try [OPTION]... [FILES...]');
    expect(err).toContain('More: dart-try --help');
    expect((await attempt([], { stdin: '' }, reads)).code).toBe(0);
  });

  it('tells a DartError in one line with its exit code', async () => {
    const failing = command(async () => {
      throw new DartError('the store is newer', { where: 'dart.db', hint: 'npm update', exitCode: 75 });
    });
    const { code, err } = await attempt([], {}, failing);
    expect([code, err]).toEqual([75, 'dart-try: dart.db: the store is newer. Try: npm update\n']);
    const json = JSON.parse((await attempt(['--log-format', 'json'], {}, failing)).err);
    expect(json).toMatchObject({ level: 'error', message: 'the store is newer', where: 'dart.db', hint: 'npm update' });
    expect((await attempt(['--log-level', 'debug'], {}, failing)).err).toContain('run.test.ts');
  });

  it('tells any other error as a bug, with its stack', async () => {
    const failing = command(async () => {
      throw new TypeError('x is not a function');
    });
    const { code, err } = await attempt([], {}, failing);
    expect(code).toBe(2);
    expect(err).toMatch(/TypeError: x is not a function\n.*run\.test\.ts[\s\S]*this is a bug/);
  });

  it("tells the system's errors about a path in words", async () => {
    const failing = command(async () => String(readFileSync(join(dir, 'none'))).length);
    const { code, err } = await attempt([], {}, failing);
    expect([code, err]).toEqual([
      2,
      `dart-try: ${dir}/none: cannot open: no such file or folder. Try: check the path\n`,
    ]);
  });

  it.each([
    [new ReaderGone(), 0],
    [new Interrupted('SIGINT'), 130],
    [new Interrupted('SIGTERM'), 143],
  ])('ends quietly when it is stopped: %s', async (reason, expected) => {
    for (const failure of ['reason', 'other', 'none']) {
      const stop = new AbortController();
      const stopped = command(async ({ io }) => {
        stop.abort(reason);
        if (failure === 'reason') io.signal.throwIfAborted();
        if (failure === 'other') throw new Error('the connection was cut');
        return 0;
      });
      const { code, err } = await attempt([], { signal: stop.signal }, stopped);
      expect([code, err]).toEqual([expected, '']);
    }
  });

  it.each(['returns', 'fails'])('tells of an output that failed although the command %s', async (how) => {
    const stop = new AbortController();
    const stopped = command(async () => {
      stop.abort(outputError(Object.assign(new Error('no space'), { code: 'ENOSPC' }), 'stdout'));
      if (how === 'fails') throw new Error('the connection was cut');
      return 0;
    });
    const { code, err } = await attempt([], { signal: stop.signal }, stopped);
    const told = 'dart-try: stdout: cannot write: the disk is full. Try: free some space, or another disk\n';
    expect([code, err]).toEqual([2, told]);
  });

  it.each([
    ['ENOSPC', 2, 'dart-try: stdout: cannot write: the disk is full. Try: free some space, or another disk\n'],
    ['EPIPE', 0, ''],
  ])('says in words that the help could not be written: %s', async (code, expected, told) => {
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('x'), { code })) });
    stdout.on('error', () => {});
    const { code: status, err } = await attempt(['--help'], { stdout });
    expect([status, err]).toEqual([expected, told]);
  });

  it('stops reading standard input when it is stopped', async () => {
    const stop = new AbortController();
    const silent = new Readable({ read() {} });
    const reads = command(async (context) => {
      setImmediate(() => stop.abort(new Interrupted('SIGTERM')));
      for await (const _ of readInputs(context));
      return 0;
    });
    expect((await attempt([], { stdin: silent, signal: stop.signal }, reads)).code).toBe(143);
  });
});

describe('inputs and outputs', () => {
  const copies = command(async (context) => {
    const output = await openOutput(context);
    const skipped = { count: 0 };
    for await (const { record } of readInputs(context, context.positionals, skipped)) await output.write(record);
    await output.write({ type: 'summary', skipped: skipped.count });
    return 0;
  });

  it('reads files and standard input in the order given', async () => {
    writeFileSync(join(dir, 'a'), '{"type":"a"}');
    writeFileSync(join(dir, 'b'), '{"type":"b"}\n');
    const { io } = await attempt(['a', '-', 'b'], { cwd: dir, stdin: '{"type":"in"}\n' }, copies);
    expect(io.records().map((record) => record.type)).toEqual(['a', 'in', 'b', 'summary']);
  });

  it('ends at a bad line, or leaves it out on demand', async () => {
    const stdin = '{"type":"a"}\n?\n';
    const failed = await attempt([], { stdin }, copies);
    expect([failed.code, failed.err]).toEqual([2, expect.stringContaining('dart-try: stdin:2: not JSON')]);
    const skipped = await attempt(['--on-error', 'skip'], { stdin }, copies);
    expect(skipped.io.records()).toEqual([{ type: 'a' }, { type: 'summary', skipped: 1 }]);
    expect(skipped.err).toContain('dart-try: warning: left out: stdin:2: not JSON');
  });

  it('advises to leave a torn line out, and to unpack what is compressed for the very subcommand', async () => {
    const spec = copies;
    const sub = { ...copies, name: 'copy', subcommands: [] };
    const { err } = await attempt([], { stdin: '{"type":"a{"type":"b"}\n{"type":"c"}\n' }, spec);
    expect(err).toMatch(/^dart-try: stdin:1: not JSON: .*\. Try: --on-error skip, which leaves it out\n$/);
    writeFileSync(join(dir, 'a.gz'), gzipSync('{"type":"a"}\n'));
    const packed = await attempt(['copy', 'a.gz'], { cwd: dir }, { ...spec, subcommands: [sub] });
    expect(packed.err).toBe('dart-try: a.gz: it is compressed (gzip). Try: zcat a.gz | dart-try copy -\n');
    const option = command(async (context) => {
      for await (const _ of readInputs(context, ['a.gz']));
      return 0;
    });
    const named = await attempt(['--tasks', 'a.gz'], { cwd: dir }, option);
    expect(named.err).toBe('dart-try: a.gz: it is compressed (gzip). Try: zcat a.gz > UNPACKED\n');
  });

  it('writes -o FILE whole, or leaves what was there', async () => {
    expect((await attempt(['-o', 'out'], { cwd: dir, stdin: '{"type":"a"}\n' }, copies)).code).toBe(0);
    const whole = '{"type":"a"}\n{"type":"summary","skipped":0}\n';
    expect(readFileSync(join(dir, 'out'), 'utf8')).toBe(whole);
    expect((await attempt(['-o', 'out'], { cwd: dir, stdin: '{"type":"b"}\n?' }, copies)).code).toBe(2);
    expect(readFileSync(join(dir, 'out'), 'utf8')).toBe(whole);
    expect(readdirSync(dir)).toEqual(['out']);
  });

  it('makes no file with --dry-run', async () => {
    const { code, io } = await attempt(['-o', 'out', '--dry-run'], { cwd: dir, stdin: '{"type":"a"}\n' }, copies);
    expect([code, io.records().length, readdirSync(dir)]).toEqual([0, 2, []]);
  });

  it('says that the disk is full and that a file is missing', async () => {
    const full = await attempt(['-o', '/dev/full'], { stdin: '{"type":"a"}\n' }, copies);
    expect([full.code, full.err]).toEqual([2, expect.stringContaining('/dev/full: cannot write: the disk is full')]);
    const missing = await attempt(['none'], { cwd: dir }, copies);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('none: cannot read: no such file')]);
  });
});

describe('warnings of which there are many', () => {
  const leaves = command(async (context) => {
    for await (const _ of readInputs(context));
    if (context.options.mode === 'slow') throw new DartError('the end');
    return 0;
  });
  const bad = (lines: number) => ({ stdin: '?\n'.repeat(lines) });
  const told = (err: string) => err.split('\n').filter((line) => line.includes('left out: stdin:'));

  it('are shown ten times, then at each power of ten, and counted at the end', async () => {
    const { err } = await attempt(['--on-error', 'skip'], bad(150), leaves);
    const numbers = told(err).map((line) => Number(/stdin:(\d+)/.exec(line)![1]));
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100]);
    expect(told(err).at(-1)).toMatch(/ \(100 records left out so far\)$/);
    const last = 'dart-try: warning: 150 records left out in all, of which not each was told. Try: --log-level debug';
    expect(err.split('\n').slice(-2)).toEqual([last, '']);
  });

  it('are all shown where they are few, or with --log-level debug', async () => {
    const few = await attempt(['--on-error', 'skip'], bad(10), leaves);
    expect([told(few.err).length, few.err]).toEqual([10, expect.not.stringContaining('in all')]);
    const all = await attempt(['--on-error', 'skip', '--log-level', 'debug'], bad(150), leaves);
    expect([told(all.err).length, all.err]).toEqual([150, expect.not.stringContaining('in all')]);
  });

  it('are counted before the error that ends the command', async () => {
    const { code, err } = await attempt(['--on-error', 'skip', '--mode', 'slow'], bad(11), leaves);
    const lines = err.split('\n').slice(-3);
    expect([code, lines]).toEqual([
      2,
      [expect.stringContaining('11 records left out in all'), 'dart-try: the end', ''],
    ]);
  });
});

describe('logOf', () => {
  const lines = async (argv: string[]) => {
    const logs = command(async (context) => {
      const log = logOf(context);
      log.error('e');
      log.warn('w');
      log.info('i');
      log.debug('d');
      return 0;
    });
    return (await attempt(argv, {}, logs)).err.split('\n').filter(Boolean);
  };

  it('shows what the level allows; --quiet leaves warnings and errors', async () => {
    expect(await lines([])).toEqual(['dart-try: e', 'dart-try: warning: w', 'dart-try: i']);
    expect(await lines(['-q'])).toEqual(['dart-try: e', 'dart-try: warning: w']);
    expect(await lines(['--log-level', 'error'])).toEqual(['dart-try: e']);
    expect(await lines(['--log-level', 'debug'])).toHaveLength(4);
  });
});
