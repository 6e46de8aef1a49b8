import { expect, it } from 'vitest';
import type { Asker, Capability } from './contract_asker.testing.ts';

type Has = (capability: Capability) => boolean;

/** Request and answer of `/execute`, in whatever desktop. */
const COMMANDS: [Record<string, unknown>, Record<string, unknown>][] = [
  [{ command: ['echo', 'a  b', '<ü>'] }, { output: 'a  b <ü>\n', error: '', returncode: 0 }],
  [
    { command: 'echo "a  b" c', shell: false },
    { output: 'a  b c\n', error: '', returncode: 0 },
  ],
  [
    { command: 'echo one | wc -l', shell: true },
    { output: expect.stringMatching(/^\s*1\n$/), returncode: 0 },
  ],
  [
    { command: 'echo $HOME', shell: 'true' },
    { output: expect.stringMatching(/^\/.+\n$/), returncode: 0 },
  ],
  [
    { command: 'exit 3', shell: true },
    { output: '', returncode: 3 },
  ],
  [{ command: ['false'] }, { output: '', error: '', returncode: 1 }],
  [
    { command: ['cat', '/no/such/file'] },
    { output: '', error: expect.stringContaining('No such file'), returncode: 1 },
  ],
];

/** `/execute` and its relatives. */
export function programContract(ask: Asker, has: Has): void {
  it.each(COMMANDS)('/execute %j', async (request, expected) => {
    for (const path of ['/execute', '/setup/execute']) {
      const { status, json } = await ask.post(path, request);
      expect([status, Object.keys(json).sort()]).toEqual([200, ['error', 'output', 'returncode', 'status']]);
      expect(json).toMatchObject({ status: 'success', ...expected });
    }
  });

  it('/execute knows the home folder', async () => {
    await ask.upload('~/contract/at home', 'here');
    expect((await ask.post('/execute', { command: ['cat', '~/contract/at home'] })).json.output).toBe('here');
    const form = new URLSearchParams({ file_path: `$HOME/contract/at home` });
    expect((await ask.post('/file', form)).text).toBe('here');
  });

  it('/execute_with_verification waits for what should come, and no longer than it is told', async () => {
    const path = `${await ask.folder()}/made`;
    const made = { command: ['touch', path], verification: { command_success: `test -e '${path}'` } };
    await ask.upload(`${path}.not`, '');
    const passed = await ask.post('/execute_with_verification', made);
    expect(passed).toMatchObject({
      status: 200,
      json: { status: 'success', output: '', returncode: 0, verification: 'passed', wait_time: expect.any(Number) },
    });
    const never = { command: ['false'], verification: { window_exists: 'no such window' } };
    const failed = await ask.post('/setup/execute_with_verification', {
      ...never,
      max_wait_time: 0.3,
      check_interval: 0.1,
    });
    expect(failed).toMatchObject({
      status: 500,
      json: { status: 'verification_failed', output: '', error: '', returncode: 1, verification: 'failed' },
    });
    expect((await ask.post('/execute_with_verification', { command: ['echo', 'x'] })).json).toEqual({
      ...{ status: 'success', output: 'x\n', error: '', returncode: 0 },
    });
  });

  it('/run_bash_script runs a script of several lines, and puts both streams in one', async () => {
    const folder = await ask.folder();
    await ask.upload(`${folder}/in`, 'content\n');
    const script = '#!/bin/bash\n# a comment\ncd .\ncat in\necho "a <b>" > out\ncat nothing\n';
    const { status, json } = await ask.post('/run_bash_script', { script, timeout: 60, working_dir: folder });
    expect([status, json]).toEqual([
      200,
      { status: 'error', output: expect.stringMatching(/^content\n.*nothing.*\n$/s), error: '', returncode: 1 },
    ]);
    const file = await ask.post('/file', new URLSearchParams({ file_path: `${folder}/out` }));
    expect(file.text).toBe('a <b>\n');
    expect((await ask.post('/run_bash_script', { script: 'true' })).json).toMatchObject({ status: 'success' });
  });

  it('/run_python plays pyautogui calls', async () => {
    const code = 'import pyautogui\npyautogui.moveTo(21, 22)\n';
    expect((await ask.post('/run_python', { code })).json).toEqual({
      ...{ status: 'success', message: '', need_more: false, output: '', error: '', return_code: 0 },
    });
    expect((await ask.get('/cursor_position')).json).toEqual([21, 22]);
  });

  it('Python that fails is an answer, with what Python said', async () => {
    const code = 'import pyautogui; pyautogui.no_such_call()';
    const executed = await ask.post('/execute', { command: ['python', '-c', code] });
    expect(executed).toMatchObject({ status: 200, json: { status: 'success', returncode: 1 } });
    expect(executed.json.error).toContain('no_such_call');
    const run = await ask.post('/run_python', { code: 'x = 1\nraise SystemExit(1)' });
    expect(run).toMatchObject({ status: 200, json: { status: 'error', return_code: 1, error: expect.any(String) } });
  });

  if (has('python'))
    it('runs Python that is no list of calls', async () => {
      const code = 'import pyautogui\nx, y = pyautogui.position()\nfor i in range(2):\n    print(i, x > -1)';
      expect((await ask.post('/run_python', { code })).json).toMatchObject({ output: '0 True\n1 True\n' });
      const command = ['python', '-c', 'import pyautogui; print(pyautogui.size()[0]); pyautogui.moveTo(*(5, 6))'];
      const { width } = (await ask.post('/screen_size')).json;
      expect((await ask.post('/execute', { command })).json).toMatchObject({ output: `${width}\n`, returncode: 0 });
      expect((await ask.get('/cursor_position')).json).toEqual([5, 6]);
    });

  if (has('processes'))
    it('ends a program that takes longer than it may', async () => {
      const command = ['sleep', '600'];
      const executed = await ask.post('/execute', { command, timeout: 0.5 });
      expect(executed).toMatchObject({
        status: 500,
        json: { status: 'error', message: expect.stringContaining('0.5') },
      });
      const script = await ask.post('/run_bash_script', { script: 'sleep 600', timeout: 0.5 });
      expect(script).toMatchObject({ status: 500, json: { status: 'error', error: '', returncode: -1 } });
    });

  if (has('processes'))
    it('shows its screen while a program runs', async () => {
      const path = `${await ask.folder()}/go`;
      const command = `until [ -e '${path}' ]; do sleep 0.1; done; echo went`;
      const waiting = ask.post('/execute', { command, shell: true });
      for (const look of ['/screenshot', '/cursor_position']) expect((await ask.get(look)).status).toBe(200);
      const code = 'import pyautogui; pyautogui.moveTo(9, 9)';
      expect((await ask.post('/execute', { command: ['python', '-c', code] })).json.returncode).toBe(0);
      await ask.upload(path, '');
      expect((await waiting).json).toMatchObject({ output: 'went\n', returncode: 0 });
    });
}
