import { describe, expect, it } from 'vitest';
import * as face from './index.ts';

const {
  adamw,
  adamwAsync,
  dpo,
  flock,
  gradientNorm,
  kto,
  logpEntropy,
  logpEntropyAsync,
  policyLoss,
  policyLossAsync,
  pollHangup,
  selectSteps,
  setInstructions,
  setThreads,
  stepEntropy,
} = face;

type Values = Record<string, unknown>;

const f32 = (...values: number[]) => Float32Array.from(values);
const f64 = (...values: number[]) => Float64Array.from(values);
const ids = (...values: number[]) => Int32Array.from(values);
const bytes = (...values: number[]) => Uint8Array.from(values);

const lossInput = (): Values => ({
  logits: f32(1, 2, 3, 4, 5, 6),
  precision: 'bf16',
  vocabulary: 3,
  stride: 3,
  target: ids(0, 2),
  mask: bytes(1, 1),
  scale: f32(0.5, 0.5),
  advantage: f32(1, -1),
  oldLogp: f32(-1, -1),
  rolloutLogp: f32(-1, -1),
  refLogp: f32(-1, -1),
  sequenceOffsets: ids(0, 2),
  temperature: 1,
  kind: 'grpo',
  clipLow: 0.2,
  clipHigh: 0.2,
  dualClip: 3,
  tis: { cap: 1, level: 'token', mode: 'truncate' },
  kl: { beta: 0.1, estimator: 'k3' },
  entropyCoefficient: 0,
  dlogits: f32(0, 0, 0, 0, 0, 0),
  nonfinite: 'throw',
  device: 'cpu',
});
const scoreInput = (): Values => {
  const { logits, precision, vocabulary, stride, target, temperature, nonfinite, device } = lossInput();
  return { logits, precision, vocabulary, stride, target, temperature, nonfinite, device };
};
const tensor = (): Values => ({
  parameter: new Uint16Array(2),
  gradient: f32(1, 1),
  firstMoment: f32(0, 0),
  secondMoment: f32(0, 0),
  master: f32(0, 0),
  precision: 'f16',
  parameterPrecision: 'bf16',
  weightDecay: 0,
});
const adamwInput = (): Values => ({
  tensors: [tensor()],
  step: 1,
  learningRate: 0.1,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
  device: 'cpu',
});

interface Function {
  call: (input: never) => unknown;
  input: () => Values;
  /** Properties that others are measured by: a wrong length is told of another one. */
  leads: string[];
}

/** Every exported function that takes an object, with an input that has every property. */
const FUNCTIONS: Record<string, Function> = {
  policyLoss: { call: policyLoss, input: lossInput, leads: ['target', 'sequenceOffsets'] },
  policyLossAsync: { call: policyLossAsync, input: lossInput, leads: ['target', 'sequenceOffsets'] },
  logpEntropy: { call: logpEntropy, input: scoreInput, leads: ['target'] },
  logpEntropyAsync: { call: logpEntropyAsync, input: scoreInput, leads: ['target'] },
  stepEntropy: {
    call: stepEntropy,
    input: () => ({ tokenEntropy: f32(1, 2), mask: bytes(1, 1), stepOffsets: ids(0, 2), device: 'cpu' }),
    leads: ['tokenEntropy', 'stepOffsets'],
  },
  selectSteps: {
    call: selectSteps,
    input: () => ({ stepEntropy: f64(1, 2), stepGroup: ids(0, 0), groups: 1, keep: 0.5, device: 'cpu' }),
    leads: ['stepGroup'],
  },
  adamw: { call: adamw, input: adamwInput, leads: ['tensors[0].parameter'] },
  adamwAsync: { call: adamwAsync, input: adamwInput, leads: ['tensors[0].parameter'] },
  dpo: {
    call: dpo,
    input: () => ({
      policyChosen: f64(-1),
      policyRejected: f64(-2),
      refChosen: f64(-1),
      refRejected: f64(-2),
      beta: 0.1,
      device: 'cpu',
    }),
    leads: ['policyChosen'],
  },
  kto: {
    call: kto,
    input: () => ({
      policy: f64(-1),
      ref: f64(-2),
      desirable: bytes(1),
      beta: 0.1,
      referencePoint: 0,
      desirableWeight: 1,
      undesirableWeight: 1,
      device: 'cpu',
    }),
    leads: ['policy'],
  },
};

/** Exported functions that the table does not hold: they take no object of arguments. */
const OTHERS = [
  'addStatistics',
  'deviceStatus',
  'flock',
  'gradientNorm',
  'instructions',
  'libraryPaths',
  'pollHangup',
  'resolveDevice',
  'setInstructions',
  'setThreads',
  'summarise',
  'threads',
];

type View = Float32Array;

function detached(view: View): View {
  const other = view.slice();
  structuredClone(other.buffer, { transfer: [other.buffer] });
  return other;
}

function shared(view: View): View {
  const kind = view.constructor as new (buffer: SharedArrayBuffer) => View;
  return new kind(new SharedArrayBuffer(view.byteLength));
}

/** What no array argument may be, and what the message says was received. */
function badArrays(view: View, isLead: boolean): [unknown, string][] {
  const kind = view.constructor.name;
  const bad: [unknown, string][] = [
    [[1, 2], 'an array'],
    ['abc', 'abc'],
    [new BigInt64Array(view.length), `BigInt64Array of length ${view.length}`],
    [detached(view), `${kind} whose buffer is detached`],
    [shared(view), `${kind} over a SharedArrayBuffer`],
  ];
  return isLead ? bad : [...bad, [view.slice(1), `${kind} of length ${view.length - 1}`]];
}

/** Every value that an argument may not have, by what it has in the good input. */
function badValues(value: unknown, isLead: boolean): [unknown, string][] {
  if (ArrayBuffer.isView(value)) return badArrays(value as View, isLead);
  if (typeof value === 'number') return [Number.NaN, Infinity, '1', [1]].map((bad) => [bad, '']);
  if (typeof value === 'string') return ['nonsense', 7].map((bad) => [bad, String(bad)]);
  return [[7, '7']];
}

/** All paths into an input: `kl.beta`, `tensors[0].gradient`. */
function pathsOf(value: Values, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = prefix + name;
    if (Array.isArray(inner)) return [path, ...pathsOf(inner[0], `${path}[0].`)];
    return isPlain(inner) ? [path, ...pathsOf(inner, `${path}.`)] : [path];
  });
}

function isPlain(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
}

const stepsOf = (path: string) => path.replace(/\[(\d+)\]/g, '.$1').split('.');
const valueAt = (input: unknown, path: string) =>
  stepsOf(path).reduce<unknown>((at, step) => (at as Values)[step], input);

/** The input with another value at a path. */
function changed(input: Values, path: string, value: unknown): Values {
  const steps = stepsOf(path);
  const holder = steps.slice(0, -1).reduce<unknown>((at, step) => (at as Values)[step], input) as Values;
  holder[steps.at(-1)!] = value;
  return input;
}

/** The error that a call ends with, thrown or rejected. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

describe.each(Object.entries(FUNCTIONS))('%s', (_name, { call, input, leads }) => {
  const attempt = (value: unknown) => errorOf(() => call(value as never));
  const paths = pathsOf(input());

  it('takes an input with every property', async () => {
    expect(await attempt(input())).not.toBeInstanceOf(Error);
  });

  it.each(paths)('names %s, what was expected and what came', async (path) => {
    for (const [bad, received] of badValues(valueAt(input(), path), leads.includes(path))) {
      const error = await attempt(changed(input(), path, bad));
      expect(error).toBeInstanceOf(TypeError);
      const { message } = error as TypeError;
      expect(message).toMatch(/^Expected \S.* for \S.* but received \S/);
      expect(message).toContain(` for ${path} but received `);
      expect(message).toContain(received);
    }
  });

  it('wants an object without unknown properties, also inside', async () => {
    for (const wrong of [undefined, null, 7, 'abc', [], f32(1)]) {
      expect(String(await attempt(wrong))).toMatch(/^TypeError: Expected an object for the input of \w+ but received/);
    }
    for (const path of ['', ...paths.filter((name) => isPlain(valueAt(input(), name)) && name !== 'tensors')]) {
      const error = await attempt(changed(input(), path === '' ? 'bogus' : `${path}.bogus`, 1));
      expect(String(error)).toMatch(/^TypeError: Expected one of .+ among the properties of .+ but received "bogus"$/);
    }
  });
});

describe('what a property was probably called', () => {
  it.each([
    ['cliplow', 'clipLow', 'policyLoss'],
    ['entropyCoeficient', 'entropyCoefficient', 'policyLoss'],
    ['advantages', 'advantage', 'policyLoss'],
    ['targets', 'target', 'logpEntropy'],
    ['learning_rate', 'learningRate', 'adamw'],
    ['stepgroups', 'stepGroup', 'selectSteps'],
  ])('%s: %s', async (wrong, right, name) => {
    const { call, input } = FUNCTIONS[name]!;
    const error = await errorOf(() => call({ ...input(), [wrong]: 1 } as never));
    const expected = `Expected ${right} among the properties of the input of ${name} but received "${wrong}"`;
    expect(error).toEqual(new TypeError(expected));
  });
});

describe('numbers inside arrays', () => {
  const loss = (more: Values) => () => policyLoss({ ...lossInput(), ...more } as never);

  it('scales and advantages of scored rows are finite, and the index is named', () => {
    expect(loss({ scale: f32(1, Number.NaN) })).toThrow('Expected a finite number for scale[1] but received NaN');
    expect(loss({ advantage: f32(Infinity, 0) })).toThrow('a finite number for advantage[0] but received Infinity');
    const ignored = { mask: bytes(1, 0), scale: f32(1, Number.NaN), advantage: f32(1, Number.NaN) };
    expect(loss(ignored)).not.toThrow();
    expect(loss({ advantage: f32(Infinity, 0), nonfinite: 'count' })().statistics.nonfinite).toBe(1);
  });

  it('logits that are neither finite nor -Infinity are found, in every precision and in place', () => {
    const bad = f32(1, 2, 3, 4, Infinity, 6);
    const message = 'Expected finite logits (or -Infinity) but received Infinity in row 1, column 1';
    expect(loss({ logits: bad })).toThrow(new TypeError(message));
    const place = f32(1, 2, 3, 4, Number.NaN, 6);
    expect(loss({ logits: place, dlogits: place })).toThrow(/^Expected finite logits \(or -Infinity\) .* in row 1/);
    expect(loss({ logits: bad, mask: bytes(1, 0) })).not.toThrow();
    expect(loss({ logits: f32(1, 2, 3, 4, -Infinity, 6) })).not.toThrow();
    expect(loss({ logits: bad, nonfinite: 'count' })().statistics.nonfinite).toBe(1);
    const scores = { vocabulary: 3, target: ids(0, -1), logits: bad };
    expect(() => logpEntropy(scores)).toThrow(message);
    expect(logpEntropy({ ...scores, nonfinite: 'count' }).entropy[1]).toBeNaN();
  });

  it('entropies, log-probabilities and choices are numbers', () => {
    const steps = { tokenEntropy: f32(1, Number.NaN), stepOffsets: ids(0, 2) };
    expect(() => stepEntropy(steps)).toThrow('Expected a finite number for tokenEntropy[1] but received NaN');
    expect(stepEntropy({ ...steps, mask: bytes(1, 0) })[0]).toBe(1);
    const chosen = { stepEntropy: f64(1, Infinity), stepGroup: ids(0, 0), groups: 1, keep: 1 };
    expect(() => selectSteps(chosen)).toThrow('a finite number, or NaN for stepEntropy[1] but received Infinity');
    const pairs = { policyChosen: f64(1), policyRejected: f64(Number.NaN), refChosen: f64(1), refRejected: f64(1) };
    expect(() => dpo({ ...pairs, beta: 1 })).toThrow('a finite number for policyRejected[0] but received NaN');
  });
});

describe('arrays in one piece of memory', () => {
  it('dlogits may be logits itself, or lie apart, and nothing between', () => {
    const memory = new Float32Array(12);
    const loss = (logits: unknown, dlogits: unknown) => () => policyLoss({ ...lossInput(), logits, dlogits } as never);
    expect(loss(memory.subarray(0, 6), memory.subarray(6))).not.toThrow();
    expect(loss(memory.subarray(0, 6), memory.subarray(0, 6))).not.toThrow();
    const message =
      'Expected logits itself, or memory apart from it, for dlogits but received Float32Array of length 6';
    expect(loss(memory.subarray(0, 6), memory.subarray(3, 9))).toThrow(new TypeError(message));
    expect(loss(memory.subarray(0, 6), new Uint16Array(memory.buffer, 0, 6))).toThrow('memory apart from it');
  });

  const perToken = ['target', 'mask', 'scale', 'advantage', 'oldLogp', 'rolloutLogp', 'refLogp', 'sequenceOffsets'];
  it.each(perToken)(
    'dlogits, in place or not, lies apart from %s, which is read after rows are written',
    async (name) => {
      const dlogits = new Float32Array(6);
      const good = lossInput()[name] as View;
      const kind = good.constructor as Float32ArrayConstructor;
      const last = new kind(dlogits.buffer, dlogits.byteLength - good.byteLength);
      last.set(good);
      const separate = { ...lossInput(), [name]: last, dlogits };
      const message = `Expected memory apart from ${name} for dlogits but received Float32Array of length 6`;
      for (const input of [separate, { ...separate, logits: dlogits }] as never[]) {
        expect(() => policyLoss(input)).toThrow(new TypeError(message));
        await expect(policyLossAsync(input)).rejects.toThrow(new TypeError(message));
      }
    },
  );

  it('arrays that are only read may be one, and neighbours are no overlap', () => {
    const memory = f32(-1, -1, -1, -1, 0, 0, 0, 0, 0, 0);
    const one = memory.subarray(0, 2);
    const input = { ...lossInput(), oldLogp: one, rolloutLogp: one, refLogp: one, dlogits: memory.subarray(4) };
    expect(policyLoss(input as never).logp).toEqual(policyLoss(lossInput() as never).logp);
  });

  it('a tensor is not updated twice in a call, nor are its arrays those of another', async () => {
    const twice = tensor();
    const moments = new Float32Array(3);
    const [first, second] = [tensor(), tensor()];
    Object.assign(first, { firstMoment: moments.subarray(0, 2) });
    Object.assign(second, { secondMoment: moments.subarray(1, 3) });
    const cases: [Values[], string][] = [
      [[twice, twice], 'apart from tensors[0].parameter for tensors[1].parameter but'],
      [[first, second], 'apart from tensors[0].firstMoment for tensors[1].secondMoment but'],
      [
        [tensor(), { ...tensor(), gradient: twice.master }, twice],
        'apart from tensors[1].gradient for tensors[2].master',
      ],
    ];
    for (const [tensors, message] of cases) {
      const input = { ...adamwInput(), tensors } as never;
      expect(() => adamw(input)).toThrow(`Expected memory ${message}`);
      await expect(adamwAsync(input)).rejects.toThrow(TypeError);
    }
    expect(twice.master).toEqual(f32(0, 0));
    const gradient = f32(1, 1);
    const sharing = [
      { ...tensor(), gradient },
      { ...tensor(), gradient },
    ];
    expect(adamw({ ...adamwInput(), tensors: sharing } as never).applied).toBe(true);
  });

  it('the arrays of a tensor lie apart', () => {
    const memory = new Float32Array(5);
    const overlapping = { parameter: memory.subarray(0, 2), gradient: memory.subarray(1, 3), master: null };
    expect(() => adamw({ ...adamwInput(), tensors: [{ ...tensor(), ...overlapping }] } as never)).toThrow(
      'Expected memory apart from tensors[0].parameter for tensors[0].gradient but received Float32Array of length 2',
    );
    expect(() => adamw({ ...adamwInput(), tensors: [{ ...tensor(), parameter: f32(1, 1) }] } as never)).toThrow(
      'Expected Uint16Array (bf16), since there are master weights for tensors[0].parameter',
    );
  });
});

describe('functions of plain arguments', () => {
  it.each([
    [() => setThreads(-1), 'Expected an integer from 0 to 1024 for threads but received -1'],
    [() => setThreads(1.5), 'Expected an integer from 0 to 1024 for threads but received 1.5'],
    [() => setThreads(1025), 'Expected an integer from 0 to 1024 for threads but received 1025'],
    [() => setThreads(2 ** 40), 'Expected an integer from 0 to 1024 for threads but received 1099511627776'],
    [
      () => setInstructions('mmx' as never),
      'one of auto, scalar, avx2, avx512, neon for instructions but received "mmx"',
    ],
    [() => gradientNorm(f32(1) as never), 'Expected an array of arrays for gradients but received Float32Array'],
    [() => gradientNorm([f64(1) as never]), 'for gradients[0] but received Float64Array of length 1'],
    [() => gradientNorm([f32(1)], 'gpu' as never), 'Expected cpu, cuda or cuda:N for device but received "gpu"'],
    [() => gradientNorm([f32(1)], 'cpu', 'f8' as never), 'Expected one of bf16, f16 for precision but received "f8"'],
    [() => gradientNorm([detached(f32(1))]), 'for gradients[0] but received Float32Array whose buffer is detached'],
    [() => flock('1' as never), 'Expected an integer of at least 0 for fd but received "1"'],
    [
      () => flock(1, { nonblockin: true } as never),
      'Expected nonblocking among the properties of the options of flock',
    ],
    [() => flock(1, { nonblocking: 1 as never }), 'Expected a boolean for nonblocking but received 1'],
    [() => pollHangup(Number.NaN), 'Expected an integer of at least 0 for fd but received NaN'],
  ])('%#', (call, message) => {
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });
});

it('the tables above hold every exported function', () => {
  const exported = Object.entries(face).filter(([, value]) => typeof value === 'function');
  expect(exported.map(([name]) => name).sort()).toEqual([...Object.keys(FUNCTIONS), ...OTHERS].sort());
});
