import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Stands for Python in tests: a program that says which packages it has, and else is torchrun and rank 0 in one. Its
 * "weights" are one number, the sum of lr times the number of examples over all steps; what is asked of it is written to
 * `asked.ndjson` beside it, each request with the lines of its sample file. FAKE_TORCH says how it misbehaves:
 * `WHAT@REQUEST` or `WHAT@REQUEST:N` (from the N-th such request on).
 */
const SCRIPT = `
const fs = require('node:fs');
const path = require('node:path');
const [what, ...rest] = process.argv.slice(2);
const here = __dirname;
if (what === '-c') {
  const [, , ...names] = rest;
  const missing = (process.env.FAKE_MISSING ?? '').split(',').filter((name) => names.includes(name));
  console.log(JSON.stringify({ python: '3.12.0', missing, versions: { torch: '2.13.0', transformers: '5.18.0', peft: null }, gpus: 0 }));
  process.exit(0);
}
fs.writeFileSync(path.join(here, 'launched.json'), JSON.stringify({ pid: process.pid, words: process.argv.slice(2), env: process.env }));
const world = Number(rest[rest.indexOf('--nproc-per-node') + 1]);
const [mode, place = ''] = (process.env.FAKE_TORCH ?? '').split('@');
const [at, from = '1'] = place.split(':');
const counts = {};
let weights = 0, steps = 0, lora = null;
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const report = (rank, code) => process.stderr.write(
  '[rank' + rank + ']:terminate called\\nRoot Cause (first observed failure):\\n[0]:\\n  rank      : 0 (local_rank: 0)\\n  exitcode  : 1 (pid: 7)\\n' +
  '[1]:\\n  rank      : ' + rank + ' (local_rank: ' + rank + ')\\n  exitcode  : ' + code + ' (pid: 8)\\n');
const misbehave = {
  sample: (id, lines) => say({ id, error: { rank: 1, kind: 'sample', where: lines[0].where, message: 'the screenshot is missing. Try: --blobs DIR', trace: '' } }),
  fault: (id) => { say({ id, error: { rank: 1, kind: 'error', where: '', message: 'ValueError: no such layer', trace: '' } }); process.exit(1); },
  memory: (id) => { say({ id, error: { rank: 3, kind: 'memory', where: '', message: 'out of memory on the GPU: 79.1 GiB', trace: '' } }); process.exit(1); },
  module: (id) => { say({ id, error: { rank: 0, kind: 'error', where: '', message: "ModuleNotFoundError: No module named 'flash_attn'", trace: '' } }); process.exit(1); },
  lost: (id) => { say({ id, error: { rank: null, kind: 'error', where: '', message: 'another rank ended', trace: '' } }); report(1, -9); process.exit(1); },
  silent: () => { report(1, -11); process.exit(1); },
  killed: () => process.kill(process.pid, 'SIGKILL'),
  hang: () => {},
  nonfinite: (id) => say({ id, ok: { applied: false, loss: null, grad_norm: null, statistics: { nonfinite: 3, loss: null } } }),
  odd: (id) => say({ id, ok: { vocabulary: 'large' } }),
};
const answer = {
  open: ({ model }) => { lora = model.lora; return { parameters: 1000, trainable: lora ? 10 : 900, vocabulary: 300, world_size: world, device: 'cpu', backend: 'gloo', dtype: model.dtype, memory_bytes: 2 ** 30 }; },
  score: (_, lines) => ({ entropy: lines.map((_, i) => i + weights), tokens: lines.map(() => 4) }),
  step: ({ lr, kind }, lines) => {
    say({ event: 'progress', do: 'step', done: 1, of: 2 });
    weights += lr * lines.length;
    steps += 1;
    const tokens = 4 * lines.length;
    const statistics = { tokens, ignored: 0, excluded: 0, nonfinite: 0, loss: 1, approx_kl: 0.5 * tokens, clipped: 0, entropy: 2 * tokens, reference_kl: 0,
      reference_tokens: 0, weight: tokens, weight_max: 1, truncated: 0, rollout_tokens: tokens, logp_difference: 0, log_weight: 0 };
    return { applied: true, loss: 1 / steps, grad_norm: 0.5, statistics, more: kind === 'dpo' ? { rewards_margins: 0.25 } : {}, seconds: { forward: 0.1 }, memory_bytes: 5 };
  },
  save: ({ folder }) => {
    const files = lora ? ['adapter_model.safetensors', 'adapter_config.json'] : ['model.safetensors', 'config.json', 'tokenizer.json', 'preprocessor_config.json'];
    fs.mkdirSync(path.join(folder, 'state'));
    for (const name of [...files, 'state/.metadata']) fs.writeFileSync(path.join(folder, name), JSON.stringify({ weights, steps }), { mode: 0o600 });
    return { files: [...files, 'state/.metadata'] };
  },
  restore: ({ folder }) => { ({ weights, steps } = JSON.parse(fs.readFileSync(path.join(folder, 'state/.metadata'), 'utf8'))); return {}; },
};
process.stdout.write(process.env.FAKE_GREETING ?? '');
process.stderr.write('[rank0]:a line of rank 0\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (text) => {
  const request = JSON.parse(text);
  const lines = request.file ? fs.readFileSync(request.file, 'utf8').trim().split('\\n').map(JSON.parse) : undefined;
  fs.appendFileSync(path.join(here, 'asked.ndjson'), JSON.stringify({ ...request, lines }) + '\\n');
  const count = (counts[request.do] = (counts[request.do] ?? 0) + 1);
  if (request.do === at && count >= Number(from)) return misbehave[mode](request.id, lines);
  if (request.do === 'close') { say({ id: request.id, ok: {} }); process.exit(0); }
  say({ id: request.id, ok: answer[request.do](request, lines) });
}).on('close', () => { if (mode !== 'hang') process.exit(0); else setInterval(() => {}, 1000); });
`;

export interface FakeTorch {
  /** For `--python`. */
  program: string;
  /** A folder that passes for a checkpoint. */
  checkpoint: string;
  /** What was asked of it, in order. */
  asked(): { do: string; lines?: Record<string, unknown>[]; [field: string]: unknown }[];
  /** How it was started last. */
  launched(): { pid: number; words: string[]; env: Record<string, string> };
  forget(): void;
}

/** Makes the program and a checkpoint below a folder. */
export function fakeTorch(folder: string): FakeTorch {
  const program = join(folder, 'python');
  writeFileSync(program, `#!${process.execPath}\n${SCRIPT}`);
  chmodSync(program, 0o755);
  const log = join(folder, 'asked.ndjson');
  return {
    program,
    checkpoint: fakeCheckpoint(join(folder, 'checkpoint')),
    asked: () => {
      const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
    launched: () => JSON.parse(readFileSync(join(folder, 'launched.json'), 'utf8')),
    forget: () => writeFileSync(log, ''),
  };
}

/** A folder with the files of a checkpoint, whose weights nobody can read. */
export function fakeCheckpoint(folder: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{"model_type":"qwen2_5_vl"}');
  writeFileSync(join(folder, 'model.safetensors'), 'weights of the base');
  writeFileSync(join(folder, 'tokenizer.json'), '{}');
  writeFileSync(join(folder, 'preprocessor_config.json'), '{}');
  return folder;
}
