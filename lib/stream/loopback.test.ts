import { describe, expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';

describe('isLoopback', () => {
  it('knows the names and addresses of this machine from those that others may reach', () => {
    expect(['localhost', 'LocalHost', '::1', '[::1]', '127.0.0.1', '127.1.2.3'].every(isLoopback)).toBe(true);
    const others = ['0.0.0.0', '::', '[::1', '10.0.0.1', '127.0.0.1.example.org', 'localhost.example.org', 'gpu1', ''];
    expect(others.some(isLoopback)).toBe(false);
  });
});
