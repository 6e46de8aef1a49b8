import { native } from './addon.ts';
import { holdArrays } from './arrays.ts';
import {
  type Logits,
  type LogpEntropyInput,
  logpEntropyArguments,
  type PolicyLossInput,
  policyLossArguments,
} from './policy_input.ts';
import { brokenName, isBroken, isFiniteAt } from './precision.ts';
import { type PolicyStatistics, statisticsFrom, statisticsLength } from './statistics.ts';

export {
  type ImportanceSampling,
  LOSS_KINDS,
  type Logits,
  type LogpEntropyInput,
  type LossKind,
  type PolicyLossInput,
  type ReferenceKl,
} from './policy_input.ts';

export interface PolicyLossResult {
  /** Per token; 0 on ignored rows, and logp -inf where the target was an excluded entry. */
  logp: Float32Array;
  /** Nats, exact, at the sampling temperature. */
  entropy: Float32Array;
  ratio: Float32Array;
  /** Importance weight. */
  weight: Float32Array;
  /** Before scale. */
  tokenLoss: Float32Array;
  /** d loss / d logits; rows without loss are exactly 0. */
  dlogits: Logits | null;
  /** Sums over the scored tokens; `summarise` makes means of them. */
  statistics: PolicyStatistics;
}

/**
 * Fused policy loss of N tokens: log-probability, entropy, loss and d loss / d logits (design §9; formulas in
 * native/kernels/policy_math.h). Throws a TypeError for arguments that do not fit.
 */
export function policyLoss(input: PolicyLossInput): PolicyLossResult {
  const { args, result } = preparePolicyLoss(input);
  native().addon.policyLoss(args);
  return result();
}

/**
 * `policyLoss` on a thread of its own: the event loop and libuv's threads stay free, the results are the same. Per-token
 * arrays are copied; logits and dlogits are held, and must neither be touched nor transferred, until the promise is
 * settled. Calls run in the order of their making.
 */
export async function policyLossAsync(input: PolicyLossInput): Promise<PolicyLossResult> {
  const { args, result } = preparePolicyLoss(input);
  const stillThere = holdArrays({ logits: args.logits, dlogits: args.dlogits });
  await native().addon.policyLoss({ ...args, ...ownTokens(args), async: true });
  stillThere();
  return result();
}

function preparePolicyLoss(input: PolicyLossInput) {
  const args = policyLossArguments(input);
  const perToken = () => new Float32Array(args.rows);
  const out = { logp: perToken(), entropy: perToken(), ratio: perToken(), weight: perToken(), tokenLoss: perToken() };
  const sums = new Float64Array(statisticsLength);
  const { dlogits } = args;
  const result = (): PolicyLossResult => {
    const statistics = statisticsFrom(sums);
    if (input.nonfinite !== 'count') refuseBrokenLoss(input, out, dlogits, statistics);
    return { ...out, dlogits, statistics };
  };
  return { args: { ...args, ...out, statistics: sums }, result };
}

/** Arrays that C++ must find as they were checked, as copies: the caller may change the originals meanwhile. */
function ownTokens(args: Record<string, unknown>) {
  const names = ['target', 'mask', 'scale', 'advantage', 'oldLogp', 'rolloutLogp', 'refLogp', 'sequenceOffsets'];
  const given = names.filter((name) => ArrayBuffer.isView(args[name]));
  return Object.fromEntries(given.map((name) => [name, (args[name] as Float32Array).slice()]));
}

/** Log-probability of each target (-inf for an excluded entry, 0 for target -1) and entropy of each row, in nats. */
export function logpEntropy(input: LogpEntropyInput): { logp: Float32Array; entropy: Float32Array } {
  const { args, result } = prepareLogpEntropy(input);
  native().addon.logpEntropy(args);
  return result();
}

/** `logpEntropy` on a thread of its own; what `policyLossAsync` says of arrays holds here. */
export async function logpEntropyAsync(
  input: LogpEntropyInput,
): Promise<{ logp: Float32Array; entropy: Float32Array }> {
  const { args, result } = prepareLogpEntropy(input);
  const stillThere = holdArrays({ logits: args.logits });
  await native().addon.logpEntropy({ ...args, ...ownTokens(args), async: true });
  stillThere();
  return result();
}

function prepareLogpEntropy(input: LogpEntropyInput) {
  const args = logpEntropyArguments(input);
  const out = { logp: new Float32Array(args.rows), entropy: new Float32Array(args.rows) };
  const result = () => {
    if (input.nonfinite !== 'count') refuseBrokenRows(input, out);
    return out;
  };
  return { args: { ...args, ...out }, result };
}

type Scores = Pick<PolicyLossResult, 'logp' | 'entropy'>;

/** The first row whose log-probability or entropy came out NaN; -1 where there is none. */
function brokenRow({ logp, entropy }: Scores): number {
  return logp.findIndex((value, row) => Number.isNaN(value) || Number.isNaN(entropy[row]));
}

/** Says of a row which logit is at fault, if it still stands there. */
function refuseLogit(
  input: Pick<PolicyLossInput, 'logits' | 'vocabulary' | 'stride' | 'precision'>,
  row: number,
): void {
  const { logits, vocabulary, stride = vocabulary, precision = 'bf16' } = input;
  for (let column = 0; column < vocabulary; column++) {
    if (!isBroken(logits, row * stride + column, precision)) continue;
    const value = brokenName(logits, row * stride + column, precision);
    throw new TypeError(`Expected finite logits (or -Infinity) but received ${value} in row ${row}, column ${column}`);
  }
}

function refuseBrokenRows(input: LogpEntropyInput, scores: Scores): void {
  const row = brokenRow(scores);
  if (row >= 0) refuseLogit(input, row);
}

function refuseBrokenLoss(
  input: PolicyLossInput,
  scores: Scores & { tokenLoss: Float32Array },
  dlogits: Logits | null,
  { nonfinite }: PolicyStatistics,
): void {
  const broken = brokenRow(scores);
  if (broken < 0 && nonfinite === 0) return;
  const row = broken >= 0 ? broken : scores.tokenLoss.findIndex((loss) => !Number.isFinite(loss));
  if (row < 0) refuseGradient(input, dlogits);
  if (input.dlogits !== input.logits) refuseLogit(input, row);
  const what = broken >= 0 ? 'finite logits (or -Infinity)' : 'numbers whose loss is finite';
  throw new TypeError(`Expected ${what} but received others in row ${row}: its loss is ${scores.tokenLoss[row]}`);
}

/** Losses are finite, but not all that follows from them. Names the row if it shows in the gradient. */
function refuseGradient(input: PolicyLossInput, dlogits: Logits | null): never {
  const { vocabulary, stride = vocabulary, precision = 'bf16', target } = input;
  const type = dlogits instanceof Uint16Array ? precision : 'f32';
  const rowIsFinite = (_: number, row: number) => {
    for (let column = 0; dlogits && column < vocabulary; column++)
      if (!isFiniteAt(dlogits, row * stride + column, precision)) return false;
    return true;
  };
  const row = target.findIndex((id, t) => !rowIsFinite(id, t));
  const where = row < 0 ? '' : ` in row ${row}`;
  throw new TypeError(
    `Expected scales, advantages and temperature whose loss and gradient are within ${type} but received others${where}`,
  );
}
