import { describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { spec } from './spec.ts';

describe('dart-train --print-config', () => {
  const config = async (...args: string[]) => {
    const io = testIo();
    expect(await runCommand(spec, ['--print-config', '--policy', 'onnx:p', ...args], io)).toBe(0);
    return io.records()[0]!.options;
  };

  it('shows what preset, loss and objective decide, and which of them it was', async () => {
    expect(await config('--loss', 'dapo')).toMatchObject({
      'kl-beta': { value: 0, origin: 'preset', from: 'loss dapo' },
      'tis-cap': { value: 1, origin: 'preset', from: 'preset dart' },
      'keep-entropy': { value: 0.8, origin: 'preset', from: 'preset dart' },
      lr: { value: 2e-4, origin: 'preset', from: 'objective grpo' },
      'max-updates': { value: null, origin: 'unset' },
    });
    expect(await config('--preset', 'arpo', '--clip-low', '0.1')).toMatchObject({
      'clip-low': { value: 0.1, origin: 'flag' },
      'clip-high': { value: 0.3, from: 'preset arpo' },
      'dual-clip': { value: 3, from: 'preset arpo' },
      'tis-cap': { value: null, from: 'preset arpo' },
    });
  });

  it('of sft says nothing of what sft does not use', async () => {
    expect(await config('--objective', 'sft')).toMatchObject({
      lr: { value: 1e-3, from: 'objective sft' },
      'batch-samples': { value: 64, from: 'objective sft' },
      'clip-low': { value: null, origin: 'unset' },
    });
  });

  it('takes what suits the engine, and says which it is', async () => {
    expect(await config()).toMatchObject({ engine: { value: 'onnx' }, lora: { value: 0, origin: 'default' } });
    const io = testIo();
    expect(await runCommand(spec, ['--print-config', '--policy', 'hf:dir', '--lora', '64'], io)).toBe(0);
    expect(io.records()[0]!.options).toMatchObject({
      engine: { value: 'torch', from: 'policy' },
      lr: { value: 1e-5, from: 'objective grpo, engine torch' },
      'freeze-vision': { value: true, origin: 'default' },
    });
  });
});
