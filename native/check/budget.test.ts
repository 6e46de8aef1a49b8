import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { torchPython } from '../../lib/stream/torch.testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-budget-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Qwen2.5-VL-3B as its config.json has it, the text's sizes at the top. */
const SMALL = {
  ...{ hidden_size: 2048, num_hidden_layers: 36, intermediate_size: 11008, num_attention_heads: 16 },
  ...{ num_key_value_heads: 2, vocab_size: 151936, tie_word_embeddings: true },
  vision_config: {
    ...{ hidden_size: 1280, depth: 32, intermediate_size: 3420, window_size: 112 },
    fullatt_block_indexes: [7, 15, 23, 31],
  },
};

function budget(...args: string[]): string {
  return execFileSync('python3', [join(import.meta.dirname, 'budget.py'), ...args], { encoding: 'utf8' });
}

/** A value that a line of Python with `budget` and `shape`, the 7B, in sight prints as JSON. */
function ask(python: string, line: string): unknown {
  const script = `import json, budget\nshape = budget.Shape()\n${line}`;
  const { stdout, stderr } = spawnSync(python, ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, PYTHONPATH: `${import.meta.dirname}:${join(import.meta.dirname, '..', 'torch')}` },
  });
  expect(stderr).not.toContain('Error');
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

const cells = (text: string, row: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`| ${row}`))
    .map((line) => line.slice(2, -2).split(' | '));

describe('budget.py', () => {
  it('counts the weights of Qwen2.5-VL-7B, and of another checkpoint by its config.json', () => {
    expect(cells(budget(), '**all**')[0]![2]).toBe('8,292,166,656');
    writeFileSync(join(folder, 'config.json'), JSON.stringify(SMALL));
    expect(cells(budget(folder), '**all**')[0]![2]).toBe('3,754,622,976');
    expect(cells(budget(folder), 'LM head')).toEqual([]);
  });

  it('shares out 16 bytes a trained weight and 2 a frozen one', () => {
    // 16 × 7,615,616,512 + 2 × 676,550,144 = 123.2e9; LoRA: 2 × 8,292,166,656 + 16 × 161,480,704 = 19.2e9
    const text = budget('--gpus', '1,4');
    expect(cells(text, 'full, β = 0').map((row) => row[2])).toContain('123.2');
    expect(cells(text, 'full, β = 0').map((row) => row[2])).toContain('30.8');
    expect(cells(text, 'LoRA, any β').map((row) => row[2])).toEqual(['19.2', '4.8']);
  });

  it('says what fits: all weights on four GPUs of 80 GB, not on one; adapters on one', () => {
    const text = budget('--gpus', '1,4', '--sizes', '80');
    // The last table has rows of these names too.
    const rows = cells(text, 'full, β > 0 | ').slice(0, 2);
    expect(rows.map((row) => [row[1], row.at(-1)])).toEqual([
      ['1', '–'],
      ['4', 'fits'],
    ]);
    expect(cells(text, 'LoRA, any β').map((row) => row.at(-1))).toEqual(['fits', 'fits']);
  });

  it('counts operations: 2 a weight and token forward, and half of 4 L² H a layer for attention', () => {
    const line = 'step = budget.Step(1000, 0, 0); print(json.dumps(budget.operations(shape, step, False)))';
    // 28 layers of 233,046,016 products of 1000 tokens, and 2 · 1000² · 3584 · 28
    const layers = 2 * 28 * 233_046_016 * 1000;
    const attention = 2 * 1e6 * 3584 * 28;
    expect(ask('python3', line)).toEqual([layers + attention, 4 * layers + 4.5 * attention]);
  });

  it('makes 2,691 tokens of a screen of 1920 × 1080, 1,334 of 1280 × 800, and obeys a limit of pixels', () => {
    const line = `print(json.dumps([budget.picture_tokens(1080, 1920), budget.picture_tokens(800, 1280),
      budget.smart_resize(1080, 1920, most=28 * 28 * 32), budget.smart_resize(20, 20)]))`;
    expect(ask('python3', line)).toEqual([2691, 1334, [112, 196], [56, 56]]);
  });
});

describe.skipIf(!torchPython)('budget.py beside transformers', () => {
  it('counts what the model has, whole, in its vision tower and in its layers', () => {
    const made = `
import dart_torch, torch
from transformers import AutoModelForImageTextToText, Qwen2_5_VLConfig
text = dict(hidden_size=3584, num_hidden_layers=28, intermediate_size=18944, num_attention_heads=28, num_key_value_heads=4, vocab_size=152064)
vision = dict(depth=32, hidden_size=1280, intermediate_size=3420, num_heads=16, out_hidden_size=3584)
with torch.device("meta"):
    model = AutoModelForImageTextToText.from_config(Qwen2_5_VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False))
count = lambda module: sum(weight.numel() for weight in module.parameters())
visual, layer = model.model.visual, model.model.language_model.layers[0]
products = sum(m.weight.numel() for m in layer.modules() if isinstance(m, torch.nn.Linear))
print(json.dumps([
    [count(model), count(visual), count(visual.merger), count(layer), products],
    [shape.text() + shape.vision(), shape.vision(), shape.merger(), shape.layer(), sum(a * b for a, b in shape.linears)],
]))`;
    const [theirs, ours] = ask(torchPython!, made) as number[][];
    expect(ours).toEqual(theirs);
    expect(ours).toEqual([8_292_166_656, 676_550_144, 44_574_464, 233_057_792, 233_046_016]);
  }, 180_000);

  it('resizes as its image processor does', () => {
    // Beside a side of 1 pixel the seven of 333 and more are too long for it, either way round.
    const sides = [1, 27, 28, 100, 333, 768, 1080, 1200, 1440, 2160, 4320];
    const line = `
import dart_torch
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize
sides = ${JSON.stringify(sides)}
pairs = [(h, w) for h in sides for w in sides if max(h, w) / min(h, w) < 200]
wrong = [(h, w, most) for h, w in pairs for most in (25088, 2116800, 12845056)
         if tuple(smart_resize(h, w, 28, 3136, most)) != tuple(budget.smart_resize(h, w, 3136, most))]
print(json.dumps([len(pairs), wrong]))`;
    expect(ask(torchPython!, line)).toEqual([121 - 14, []]);
  }, 180_000);
});
