import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { messageOf } from '../lib/errors.ts';
import { isRequired } from '../lib/stream/shared.testing.ts';
import { native } from './addon.ts';
import {
  type Device,
  deviceStatus,
  instructions,
  libraryPaths,
  policyLoss,
  resolveDevice,
  setInstructions,
  setThreads,
  threads,
} from './index.ts';

afterEach(() => vi.unstubAllEnvs());

const coin = { logits: new Float32Array(2), vocabulary: 2, target: Int32Array.of(0), scale: Float32Array.of(1) };

describe('deviceStatus', () => {
  it('says in one line what the kernels run on', () => {
    const { device, text } = deviceStatus();
    expect(text).toMatch(device === 'cuda' ? /^kernels on .*compute/ : /^kernels on the CPU.*; no GPU: \S/);
    expect(text).not.toContain('\n');
  });

  it('a library that is not there is a reason, not an error', () => {
    const { addon, cudaLibrary } = native();
    const absent = addon.cudaStatus({ cudaLibrary: `${cudaLibrary}.absent`, deviceIndex: 0 });
    expect(absent.text.length).toBeGreaterThan(5);
  });

  it('a library that DART_CUDA_LIBRARY names and that is not there is named, in a call too', () => {
    const cudaLibrary = join(import.meta.dirname, 'libdart_absent.so');
    const { addon } = native();
    vi.stubEnv('DART_CUDA_LIBRARY', cudaLibrary);
    const text = `DART_CUDA_LIBRARY names ${cudaLibrary}, which does not exist`;
    expect(addon.cudaStatus({ cudaLibrary, deviceIndex: 0 })).toEqual({ available: false, text });
    expect(libraryPaths().cuda).toBe(cudaLibrary);
  });

  it('an empty DART_CUDA_LIBRARY is none', () => {
    vi.stubEnv('DART_CUDA_LIBRARY', '');
    expect(libraryPaths().cuda).toMatch(/native\/build\/Release\/libdart_cuda\.so$/);
  });

  it('the CPU kernels are no CUDA kernels, nor is a file that is no library', () => {
    const { addon } = native();
    const { cpu } = libraryPaths();
    const status = (cudaLibrary: string) => addon.cudaStatus({ cudaLibrary, deviceIndex: 0 });
    expect(status(cpu)).toEqual({ available: false, text: `${cpu} holds the CPU kernels, not those for CUDA` });
    const text = join(import.meta.dirname, 'binding.gyp');
    expect(status(text)).toMatchObject({ available: false, text: expect.stringContaining(text) });
  });

  it('asking for a GPU where there is none says why', () => {
    if (deviceStatus().device === 'cuda') {
      expect(policyLoss({ ...coin, device: 'cuda' }).logp[0]).toBeCloseTo(-Math.log(2), 6);
      return;
    }
    expect(() => policyLoss({ ...coin, device: 'cuda' })).toThrow(/^No CUDA device: \S/);
  });

  it('the CUDA kernels, where nvcc built them, open on a machine without a GPU', () => {
    const { addon, cudaLibrary } = native();
    const { available, text } = addon.cudaStatus({ cudaLibrary, deviceIndex: 0 });
    // Where nvcc must be found, a library that it could not compile is a failure.
    if (isRequired('nvcc')) expect(existsSync(cudaLibrary)).toBe(true);
    const expected = existsSync(cudaLibrary) ? /compute \d|driver|no CUDA device/ : /not built/;
    expect(text).toMatch(expected);
    expect(available).toBe(/compute \d/.test(text));
  });
});

describe('resolveDevice', () => {
  it('auto is the first GPU, or the CPU with the reason', () => {
    const { device, text } = deviceStatus();
    expect(resolveDevice('auto')).toEqual({ device: device === 'cuda' ? 'cuda:0' : 'cpu', text });
  });

  it('the CPU needs no word about GPUs, and its name is taken by every kernel', () => {
    const { device, text } = resolveDevice('cpu');
    expect([device, text]).toEqual(['cpu', expect.stringMatching(/^kernels on the CPU[^;]*$/)]);
    expect(policyLoss({ ...coin, device }).logp[0]).toBeCloseTo(-Math.log(2), 6);
  });

  it('a GPU that is not there: why, and what to do', () => {
    expect.assertions(2);
    try {
      resolveDevice('cuda:999');
    } catch (error) {
      expect(messageOf(error)).toMatch(/^device cuda:999: no GPU for the kernels: \S.*\. Try: --device cpu$/);
    }
    expect(() => policyLoss({ ...coin, device: 'cuda:999' })).toThrow(/^No CUDA device: \S/);
  });

  it.each(['gpu', 'cuda:', 'cuda:-1', 'cuda:1x', 'CPU', ''])('%j is no device', (name) => {
    expect(() => resolveDevice(name)).toThrow(`there is no device '${name}'`);
    expect(() => policyLoss({ ...coin, device: name as Device })).toThrow('Expected cpu, cuda or cuda:N for device');
  });
});

describe('libraryPaths', () => {
  it('names the libraries that another program may open, beside the addon', () => {
    const { cpu, cuda } = libraryPaths();
    expect(existsSync(cpu)).toBe(true);
    expect(cpu).toMatch(/native\/build\/Release\/libdart_cpu\.(so|dylib)$/);
    expect(cuda).toBe(native().cudaLibrary);
  });
});

describe('settings of the CPU kernels', () => {
  it('threads: as many as were asked for, and 0 for what the machine has', () => {
    setThreads(3);
    expect(threads()).toBe(3);
    setThreads(0);
    expect(threads()).toBeGreaterThanOrEqual(1);
    setThreads(1);
    expect(threads()).toBe(1);
  });

  it('instructions: the scalar reference, and the widest by themselves', () => {
    const widest = instructions();
    setInstructions('scalar');
    expect(instructions()).toBe('scalar');
    setInstructions('auto');
    expect(instructions()).toBe(widest);
    const foreign = process.arch === 'x64' ? 'neon' : 'avx2';
    expect(() => setInstructions(foreign)).toThrow(new RegExp(foreign, 'i'));
    expect(instructions()).toBe(widest);
  });
});
