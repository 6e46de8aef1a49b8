import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playSteps } from './play.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-demo-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const text = (name: string) => readFileSync(join(dir, name), 'utf8');

describe('playSteps', () => {
  it('does a step once, and one that was stopped again', async () => {
    const first = { title: 'first', command: `echo 1 >> ${dir}/first`, product: join(dir, 'first') };
    // Stopped when it runs for the first time, though it leaves its file.
    const second = {
      title: 'second',
      command: `echo part > ${dir}/second; test -e ${dir}/again && exit 0; touch ${dir}/again; exit 130`,
      product: join(dir, 'second'),
    };
    expect(await playSteps([first, second])).toBe(130);
    expect(existsSync(second.product)).toBe(false);
    expect(text('second.stopped')).toBe('part\n');
    expect(await playSteps([first, second])).toBe(0);
    expect([text('first'), text('second')]).toEqual(['1\n', 'part\n']);
  });

  it('names the step that failed', async () => {
    const failing = { title: 'the third', command: 'true | exit 2' };
    await expect(playSteps([failing])).rejects.toMatchObject({
      message: 'this step ended with exit code 2',
      where: 'the third',
    });
  });
});
