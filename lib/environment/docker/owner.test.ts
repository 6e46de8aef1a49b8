import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isGone, thisOwner } from './owner.ts';

const [boot, namespace, pid, start] = thisOwner().split('/');

describe('the owner of a container', () => {
  it('is gone when no process has its number, or a later one has', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    expect(isGone(`${boot}/${namespace}/${child.pid}/1`, true)).toBe(true);
    expect(isGone(`${boot}/${namespace}/${pid}/${Number(start) - 1}`, true)).toBe(true);
    expect(isGone(thisOwner(), true)).toBe(false);
  });

  it('cannot be known in another container, nor on another machine while the container runs', () => {
    expect(isGone(`${boot}/1/999999/1`, true)).toBe(false);
    expect(isGone(`another-boot/${namespace}/${pid}/${start}`, true)).toBe(false);
    // Nothing that has ended needs anybody of before the boot.
    expect(isGone(`another-boot/${namespace}/${pid}/${start}`, false)).toBe(true);
    expect(isGone('', true)).toBe(false);
  });
});
