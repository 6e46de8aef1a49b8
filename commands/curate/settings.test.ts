import { describe, expect, it } from 'vitest';
import { curateIn } from './curate.testing.ts';

describe('dart-curate --print-config', () => {
  const config = async (...args: string[]) =>
    (await curateIn('.', ['--print-config', ...args])).records[0]!.options as Record<string, object>;

  it('shows what the preset decides, and that it was the preset', async () => {
    expect(await config()).toMatchObject({
      preset: { value: 'dart', origin: 'default' },
      'max-staleness': { value: 8, origin: 'preset', from: 'preset dart' },
      'group-timeout': { value: 600, origin: 'preset', from: 'preset dart' },
      'max-group': { value: null, origin: 'preset', from: 'preset dart' },
      advantage: { value: 'grpo', origin: 'preset', from: 'preset dart' },
      'no-pool': { value: false, origin: 'preset', from: 'preset dart' },
      cursor: { value: null, origin: 'unset' },
    });
    expect(await config('--preset', 'grpo')).toMatchObject({ 'no-pool': { value: true, from: 'preset grpo' } });
  });

  it('leaves alone what was given', async () => {
    const options = await config('--max-staleness', '3', '--advantage', 'rloo');
    expect(options).toMatchObject({
      'max-staleness': { value: 3, origin: 'flag', from: '--max-staleness' },
      advantage: { value: 'rloo', origin: 'flag' },
      'min-scored': { value: 2, origin: 'preset' },
    });
  });
});
