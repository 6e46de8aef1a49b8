/**
 * What leaks.test.ts runs under LeakSanitizer: `node --expose-gc leaks.testing.mjs FOLDER`, FOLDER a compiled copy of the
 * toolkit whose addon has `leak` and `reportLeaks`. Makes 1,000 calls of every exported function, errors among them, and
 * leaves the reports in FOLDER: before.PID, and after.PID once 1,000 leaks were made on purpose.
 */
import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const CALLS = 1000;
/** Calls that wait for their promise together. */
const TOGETHER = 50;

const folder = process.argv[2];
const face = await import(pathToFileURL(join(folder, 'native', 'index.js')).href);
const addon = createRequire(import.meta.url)(join(folder, 'native', 'build', 'Release', 'dart_native.node'));
const file = openSync(join(folder, 'lock'), 'w');

const f32 = (...values) => Float32Array.from(values);
const f64 = (...values) => Float64Array.from(values);
const ids = (...values) => Int32Array.from(values);
const rows = () => ({ logits: f32(1, 2, 3, 4), vocabulary: 2, target: ids(0, 1) });
const loss = () => ({ ...rows(), scale: f32(1, 1), sequenceOffsets: ids(0, 2), rolloutLogp: f32(-1, -1) });
const tensor = () => ({ parameter: f32(1), gradient: f32(1), firstMoment: f32(0), secondMoment: f32(0) });
const step = (...tensors) => ({ tensors, step: 1, learningRate: 0.1, maxGradNorm: 1 });
const broken = { ...rows(), logits: f32(Number.NaN, 2, 3, 4) };

/** For each function calls that succeed and calls that fail: in TypeScript, in C++, for want of a GPU. */
const CASES = {
  policyLoss: [
    loss(),
    { ...loss(), kind: 'gspo', dlogits: null },
    { ...loss(), logits: [1] },
    { ...loss(), device: 'cuda' },
  ],
  logpEntropy: [rows(), broken, { ...rows(), logits: f64(1) }, { ...rows(), device: 'cuda:1' }],
  adamw: [
    step(tensor(), tensor()),
    step({ ...tensor(), gradient: f32(Infinity) }),
    step({ ...tensor(), firstMoment: f32() }),
  ],
  stepEntropy: [
    { tokenEntropy: f32(1, 2), stepOffsets: ids(0, 2) },
    { tokenEntropy: f32(1), stepOffsets: ids(0, 2) },
  ],
  selectSteps: [
    { stepEntropy: f64(1, 2), stepGroup: ids(0, 0), groups: 1, keep: 0.5 },
    { stepEntropy: f64(1), stepGroup: ids(0), groups: 1, keep: 0.5, device: 'cuda' },
  ],
  dpo: [{ policyChosen: f64(1), policyRejected: f64(1), refChosen: f64(1), refRejected: f64(1), beta: 1 }, {}],
  kto: [{ policy: f64(1), ref: f64(1), desirable: Uint8Array.of(1), beta: 1, referencePoint: 0 }, { policy: 1 }],
  gradientNorm: [[f32(1, 2)], [f64(1)], 'abc'],
  flock: [file, 999_999, -1],
  pollHangup: [file, 999_999, 'abc'],
  setThreads: [2, 1, -1],
  setInstructions: ['scalar', 'auto', 'none', 'neon', 'avx2'],
  resolveDevice: ['cpu', 'auto', 'cuda:0', 'none'],
  deviceStatus: [undefined],
  threads: [undefined],
  instructions: [undefined],
  libraryPaths: [undefined],
  addStatistics: [[]],
  summarise: [face.addStatistics([])],
};
for (const name of ['policyLoss', 'logpEntropy', 'adamw']) CASES[`${name}Async`] = CASES[name];

const exported = Object.keys(face).filter((name) => typeof face[name] === 'function');
const forgotten = exported.filter((name) => !(name in CASES));
if (forgotten.length > 0) throw new Error(`no cases for ${forgotten.join(', ')}`);

const counts = { calls: 0, errors: 0 };
async function attempt(name, input) {
  counts.calls += 1;
  try {
    await face[name](input);
  } catch {
    counts.errors += 1;
  }
}

async function collectGarbage() {
  for (let i = 0; i < 3; i++) {
    await setImmediate();
    globalThis.gc();
  }
}

for (const name of exported) {
  const inputs = CASES[name];
  for (let i = 0; i < CALLS; i += TOGETHER) {
    await Promise.all(Array.from({ length: TOGETHER }, (_, j) => attempt(name, inputs[(i + j) % inputs.length])));
  }
}
await collectGarbage();
closeSync(file);
process.stdout.write(`${JSON.stringify({ functions: exported.length, ...counts })}\n`);
addon.reportLeaks(join(folder, 'before'));
for (let i = 0; i < CALLS; i++) addon.leak();
addon.reportLeaks(join(folder, 'after'));
