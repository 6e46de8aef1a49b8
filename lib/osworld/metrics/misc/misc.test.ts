import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { zipSync } from 'fflate';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DartError } from '../../../errors.ts';
import type { ExecuteResult } from '../../../guest/guest.ts';
import type { Bridge } from '../../bridge/kinds.ts';
import type { FetchedFile } from '../../context.ts';
import { Fields } from '../../fields.ts';
import { FakeGuest } from '../../guest.testing.ts';
import type { MetricInput } from '../../kinds.ts';
import { Unsupported } from '../../unsupported.ts';
import { goldenRows, ourScore } from '../golden.testing.ts';
import { METRICS } from '../index.ts';

const file = (text: string, name = 'f'): FetchedFile => ({ name, bytes: Buffer.from(text, 'utf8') });

async function score(
  name: string,
  result: unknown,
  expected: unknown,
  more: Partial<MetricInput> & { o?: object } = {},
) {
  const { o = {}, ...others } = more;
  const options = new Fields('options', 't1', o);
  return METRICS.get(name)!({ result, expected, options, name, where: 't1', ...others });
}

const failure = (promise: Promise<unknown>): Promise<DartError> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: DartError) => error,
  );

/** Pairs on which OSWorld errs: what `strict` says of them. */
const REPAIRED: [metric: string, result: string, expected: string, strict: number][] = [
  ['check_thunderbird_folder', 'mail_other', 'mail', 0],
  ['check_thunderbird_folder', 'mail_swapped', 'mail', 1],
  ['compare_image_list', 'inverted.png', 'alpha.png', 0],
  ['compare_htmls', 'more.html', 'table.html', 0],
  ['compare_epub', 'short.epub', 'book.epub', 0.75],
];

describe('strict repairs what OSWorld gets wrong', () => {
  const rows = goldenRows('misc');
  it.each(REPAIRED)('%s of %s and %s', async (metric, result, expected, strict) => {
    const row = rows.find((other) => {
      const [name, one, two] = JSON.parse(other.text);
      return name === metric && one.file === result && two.file === expected;
    })!;
    expect(row.score).toBe(1);
    expect(await ourScore(row, 'strict')).toBeCloseTo(strict, 12);
  });

  it('a list in any order', async () => {
    const rules = { expected: { a: [1, 2] }, ignore_list_order: true };
    expect(await score('check_direct_json_object', { a: [2, 1] }, rules)).toBe(0);
    expect(await score('check_direct_json_object', { a: [2, 1] }, rules, { fidelity: 'strict' })).toBe(1);
    expect(await score('check_direct_json_object', { a: [2, 2] }, rules, { fidelity: 'strict' })).toBe(0);
  });

  it('a setting of VLC that is commented out', async () => {
    const rules = { expected_qt_max_volume: 200 };
    expect(await score('check_qt_max_volume', file('#qt-max-volume=200\n'), rules)).toBe(1);
    expect(await score('check_qt_max_volume', file('#qt-max-volume=200\n'), rules, { fidelity: 'strict' })).toBe(0);
  });
});

describe('what the agent left broken is a 0, what the task got wrong an error', () => {
  const broken = file('neither one nor the other');
  const zip: FetchedFile = { name: 'a.zip', bytes: zipSync({ 'a.txt': Buffer.from('one') }) };
  it.each([
    ['compare_archive', zip, {}],
    ['compare_zip_files', zip, {}],
    ['compare_epub', zip, {}],
  ])('%s', async (name, good, o) => {
    for (const result of [null, broken]) expect(await score(name, result, good, { o })).toBe(0);
    expect((await failure(score(name, good, broken, { o }))).where).toBe('t1');
    expect((await failure(score(name, good, undefined, { o }))).message).toContain('needs an expected file');
  });

  it('PDF files', async () => {
    const pdf = goldenRows('misc').find((row) => row.name === 'check_pdf_pages')!.result;
    for (const result of [null, broken]) expect(await score('compare_pdfs', result, pdf)).toBe(0);
    expect((await failure(score('compare_pdfs', pdf, broken))).message).toContain('expected file f cannot be read');
    expect((await failure(score('check_pdf_pages', pdf, { relation: 'like', ref_value: 1 }))).message).toContain(
      'one of eq',
    );
  });

  it('archives of an unknown type of file, and of nothing', async () => {
    expect((await failure(score('compare_archive', zip, zip, { o: { file_type: 'song' } }))).message).toContain(
      'one of text',
    );
    expect((await failure(score('compare_archive', zip, zip, { o: { file_path: 'x' } }))).message).toContain(
      'nothing in "x"',
    );
  });

  it('selectors and paths that make no sense', async () => {
    const rule = (entry: object) => score('check_accessibility_tree', '<a name="x"/>', [entry]);
    expect((await failure(rule({ selectors: ['a:hover'] }))).message).toContain('cannot be read from ":hover"');
    expect((await failure(rule({ selectors: ['no|a'] }))).message).toContain('namespace no');
    expect((await failure(rule({ xpath: '//[' }))).where).toBe('t1');
    expect((await failure(rule({}))).message).toContain('selectors');
  });

  it('takes the accessibility tree as the getter brings it', async () => {
    const label = { role: 'label', name: 'To', states: ['showing'], attributes: { id: 'x' }, children: [] };
    const tree = { role: 'frame', name: 'w', states: [], children: [label] };
    expect(await score('check_accessibility_tree', tree, [{ selectors: ['frame > label[attr|id=x]'] }])).toBe(1);
    expect(await score('check_accessibility_tree', tree, [{ xpath: '//label[@attr:id="y"]' }])).toBe(0);
  });
});

describe('run_sqlite3', () => {
  const database = new Database(':memory:');
  database.exec('CREATE TABLE a (b INTEGER)');
  const logged = database.serialize();
  // A file that was written with a write-ahead log says so here.
  logged.set([2, 2], 18);
  const query = (sql: string) => score('run_sqlite3', { name: 'x', bytes: logged }, { sql });

  it('reads a database with a write-ahead log', async () => {
    expect(await query('SELECT COUNT(*) = 0 FROM a')).toBe(1);
    expect(await query('SELECT 1 FROM missing')).toBe(0);
    expect(await score('run_sqlite3', file('no database'), { sql: 'SELECT 1' })).toBe(0);
    expect(await score('run_sqlite3', null, { sql: 'SELECT 1' })).toBe(0);
  });

  it.each(["ATTACH '/tmp/x' AS x", 'DELETE FROM a', 'SELECT 1; SELECT 2', "SELECT load_extension('x')", 'SELEC'])(
    'refuses %s',
    async (sql) => expect((await failure(query(sql))).where).toBe('t1'),
  );
});

describe('speed tests', () => {
  afterEach(() => vi.useRealTimers());

  it('are as new as the rule says', async () => {
    vi.useFakeTimers({ now: new Date(2026, 0, 2, 10, 30) });
    const result = file('id,date\n1,2026-01-02 10:20\n');
    expect(await score('compare_time_in_speedtest_results', result, '11')).toBe(1);
    expect(await score('compare_time_in_speedtest_results', result, '10')).toBe(0);
    expect(await score('compare_time_in_speedtest_results', null, '10')).toBe(0);
  });
});

/** A guest whose Python is this machine's: for tests of our own code only. */
class PythonGuest extends FakeGuest {
  override async writeFile(path: string, data: Uint8Array) {
    writeFileSync(path, data);
  }

  override async execute(command: string[]): Promise<ExecuteResult> {
    if (command[0] === 'mkdir') mkdirSync(command[2]!);
    if (command[0] === 'rm') rmSync(command[2]!, { recursive: true });
    this.calls.push(command.join(' '));
    return { output: '', error: '', returncode: 0 };
  }

  override async runPython(code: string): Promise<ExecuteResult> {
    return { output: execFileSync('python3', ['-c', code], { encoding: 'utf8' }), error: '', returncode: 0 };
  }
}

describe('check_python_file_by_test_suite', () => {
  const python = spawnSync('python3', ['--version']).status === 0;
  const result = { ...file('SPEED = 4\n', 'settings.py'), beside: [file('from settings import SPEED\n', 'main.py')] };
  const suite = (body: string) => file(`import main\ndef test():\n    ${body}\n`, 'test_suite.py');

  it.skipIf(!python).each([
    ['return main.SPEED == 4', 1],
    ['return main.SPEED == 5', 0],
    ['return 0.25', 0.25],
    ['return 7', 1],
    ['return "yes"', 1],
    ['raise ValueError()', 0],
    ['import sys; sys.exit(0)', 0],
    ['import os; os._exit(0)', 0],
    ['import missing_module', 0],
  ])('%s', async (body, wanted) => {
    const guest = new PythonGuest();
    expect(await score('check_python_file_by_test_suite', result, suite(body), { guest })).toBe(wanted);
    const [, , folder] = guest.calls[0]!.split(' ');
    expect(folder).toMatch(/^\/tmp\/dart-tests-[0-9a-f]{24}$/);
    expect(existsSync(folder!)).toBe(false);
  });

  it.skipIf(!python)(
    'takes another function, and blames the task for a suite that is no Python or lacks it',
    async () => {
      const o = { test_function_name: 'check' };
      const check = file('def check():\n    return True\n');
      const guest = new PythonGuest();
      expect(await score('check_python_file_by_test_suite', result, check, { guest, o })).toBe(1);
      const lacking = await failure(score('check_python_file_by_test_suite', result, check, { guest }));
      expect(lacking.message).toContain('the test suite f cannot be run: it has no function test');
      const broken = await failure(score('check_python_file_by_test_suite', result, file('def ('), { guest }));
      expect(broken.message).toContain('the test suite f cannot be run: ');
      expect(broken.where).toBe('t1');
    },
  );

  it('never runs on this machine, and says where a desktop has no Python', async () => {
    const alone = await failure(score('check_python_file_by_test_suite', result, suite('return 1')));
    expect(alone).toBeInstanceOf(Unsupported);
    const guest = new FakeGuest();
    const without = await failure(score('check_python_file_by_test_suite', result, suite('return 1'), { guest }));
    expect(without.describe()).toContain('cannot run Python');
    expect(without).not.toBeInstanceOf(Unsupported);
  });
});

describe.each(['compare_audios', 'compare_videos', 'compare_image_text'])('%s', (name) => {
  it('is unsupported without OSWorld, and its number with it', async () => {
    const without = await failure(score(name, file('a'), file('b')));
    expect(without).toBeInstanceOf(Unsupported);
    expect(without.describe()).toContain('--python-bridge');
    const bridge = { score: async (...asked: unknown[]) => (asked[0] === name ? 0.5 : 0) } as unknown as Bridge;
    expect(await score(name, file('a'), file('b'), { bridge })).toBe(0.5);
  });
});
