import { LOSS_KINDS } from '../policy.ts';
import { numberOf } from './compare.ts';
import type { Entries, Fields } from './fields.ts';

/** Fields of a case by kind: each is a number in this range. */
const SETTINGS: readonly (readonly [string, number, number])[] = [
  ['clip_low', 0, Infinity],
  ['clip_high', 0, Infinity],
  ['kl_beta', 0, Infinity],
  ['entropy_coef', -Infinity, Infinity],
];
const FLAG: Entries = { whole: true, least: 0, most: 1 };

/**
 * A tolerance may be this many times what rounding to f32 explains: 1e-5, and 2^-22 for each unit of the greatest
 * logit. One that lets everything pass compares nothing.
 */
const MOST_ROUNDINGS = 10;

/** Holds a case of policy_loss.json to its format; any departure is a DartError that names it. */
export function requirePolicyCase(c: Fields): void {
  c.text('name');
  const rows = c.count('N');
  const vocabulary = c.count('V');
  const temperature = c.positive('temperature');
  c.choice('dtype', ['f32', 'bf16', 'f16']);
  c.choice('loss_kind', LOSS_KINDS);
  c.choice('tis_level', ['token', 'sequence']);
  c.choice('tis_mode', ['truncate', 'mask']);
  c.choice('kl_estimator', ['k1', 'k2', 'k3']);
  for (const name of ['dual_clip', 'tis_cap']) if (c.get(name) !== null) c.positive(name);
  for (const [name, least, most] of SETTINGS) c.number(name, least, most);
  const logits = c.list('logits', rows * vocabulary, { excluded: true }).map(numberOf);
  requireTolerance(c, logits, temperature);
  c.list('target', rows, { whole: true, least: -1, most: vocabulary - 1 });
  requireRuns(c, c.list('sequence', rows, { whole: true }));
  for (const name of ['scale', 'advantage', 'old_logp', 'rollout_logp', 'ref_logp']) c.list(name, rows);
  const mask = c.list('mask', rows, FLAG);
  const want = c.object('want');
  const skipped = (row: number) => mask[row] === 0;
  want.list('logp', rows, { skipped, excluded: true });
  for (const name of ['entropy', 'ratio', 'tis_weight', 'token_loss']) want.list(name, rows, { skipped });
  want.number('loss');
  want.list('dlogits', rows * vocabulary);
}

function requireTolerance(c: Fields, logits: readonly number[], temperature: number): void {
  const greatest = logits.reduce((most, x) => (x === -Infinity ? most : Math.max(most, Math.abs(x))), 0);
  const most = MOST_ROUNDINGS * (1e-5 + (2 ** -22 * greatest) / Math.min(temperature, 1));
  const rtol = c.positive('rtol');
  if (rtol <= most) return;
  c.refuse(`rtol is ${rtol}, too wide for logits up to ${greatest}`, `at most ${most.toPrecision(2)}`);
}

/** The kernels take sequences as offsets, so the tokens of one stand together. */
function requireRuns(c: Fields, sequence: readonly unknown[]): void {
  const starts = sequence.filter((id, i) => i === 0 || id !== sequence[i - 1]);
  const again = starts.find((id, i) => starts.indexOf(id) !== i);
  if (again !== undefined) c.refuse(`the tokens of sequence ${again} are not together`, 'order tokens by sequence');
}

/** Holds a case of step_selection.json to its format. */
export function requireSelectionCase(c: Fields): void {
  if (!(c.positive('keep_fraction') <= 1)) c.number('keep_fraction', 0, 1);
  const tokens = c.list('token_entropy', null).length;
  const mask = c.list('token_mask', tokens, FLAG);
  const group = c.list('step_group', null, { whole: true, least: 0 }).map(numberOf);
  const offsets = c.list('step_offsets', group.length + 1, { whole: true, least: 0, most: tokens }).map(numberOf);
  if (offsets[0] !== 0 || offsets.at(-1) !== tokens || offsets.some((at, i) => at < (offsets[i - 1] ?? 0)))
    c.refuse(`step_offsets do not go up from 0 to ${tokens}`, 'where each step begins, then the number of tokens');
  const want = c.object('want');
  const skipped = (step: number) => !mask.slice(offsets[step], offsets[step + 1]).includes(1);
  const entropy = want.list('step_entropy', group.length, { skipped });
  want.list('selected', group.length, FLAG);
  const threshold = want.object('threshold');
  for (const g of new Set(group.filter((_, step) => entropy[step] !== null))) threshold.number(String(g));
  const unknown = threshold.names().find((name) => !group.map(String).includes(name));
  if (unknown !== undefined) c.refuse(`want.threshold names group ${unknown}, which has no step`, 'groups of steps');
}

/** Holds adamw.json to its format. */
export function requireAdamwCase(c: Fields): void {
  for (const name of ['lr', 'beta1', 'beta2', 'eps', 'weight_decay']) c.number(name, 0);
  c.positive('max_grad_norm');
  const size = c.list('start', null).length;
  for (const step of c.objects('steps')) {
    step.list('grad', size);
    step.number('grad_norm', 0);
    step.list('want', size);
  }
}

/** Holds a case of preference_loss.json to its format. */
export function requirePreferenceCase(c: Fields): void {
  c.choice('objective', ['dpo', 'kto']);
  c.positive('beta');
  const want = c.object('want');
  want.number('loss');
  if (c.get('objective') === 'dpo') {
    const pairs = c.list('policy_chosen', null).length;
    for (const name of ['policy_rejected', 'ref_chosen', 'ref_rejected']) c.list(name, pairs);
    for (const name of ['d_policy_chosen', 'd_policy_rejected']) want.list(name, pairs);
    return;
  }
  const sequences = c.list('policy', null).length;
  c.list('ref', sequences);
  const desirable = c.get('desirable');
  if (!Array.isArray(desirable) || desirable.length !== sequences || desirable.some((d) => typeof d !== 'boolean'))
    c.refuse('desirable is no list of true and false', `${sequences} of them`);
  for (const name of ['reference_point', 'desirable_weight', 'undesirable_weight']) c.number(name);
  want.list('d_policy', sequences);
}
