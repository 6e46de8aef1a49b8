import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import type { Objective } from '../../lib/training/presets.ts';
import { warmupAdvice } from '../../lib/training/schedule.ts';
import { TRAIN_OPTIONS } from './options.ts';
import { numberOf, type TrainSettings } from './settings.ts';

type Options = CommandContext['options'];

/**
 * Options of which one would be passed over in silence.
 * @throws DartError naming them.
 */
export function refuseConflicts(options: Options): void {
  refuseTwoBatches(options);
  const constant = options['lr-schedule'] === 'constant';
  const total = numberOf(options, 'lr-total-updates');
  const warmup = numberOf(options, 'lr-warmup') ?? 0;
  for (const name of ['lr-total-updates', 'lr-floor']) {
    if (!constant || !isGiven(options, name)) continue;
    throw new DartError('a constant learning rate has no end that it falls to', {
      where: `--${name}`,
      hint: '--lr-schedule linear or cosine',
    });
  }
  if (total !== null && warmup >= total) {
    throw new DartError(`a warm-up of ${warmup} updates leaves nothing of ${total} to fall in`, {
      where: '--lr-warmup, --lr-total-updates',
      hint: 'a shorter warm-up: the total counts it',
    });
  }
  if (options['all-outcomes'] === true && isGiven(options, 'min-reward')) {
    throw new DartError('--all-outcomes and --min-reward exclude each other', { hint: 'one of them' });
  }
}

function refuseTwoBatches(options: Options): void {
  if (!isGiven(options, 'batch-groups')) return;
  if (options.objective === 'sft') {
    throw new DartError('it counts groups, and sft learns from single steps', {
      where: '--batch-groups',
      hint: isGiven(options, 'batch-samples') ? '--batch-samples without it' : '--batch-samples N',
    });
  }
  // dpo and kto refuse --batch-samples themselves.
  if (options.objective !== 'grpo' || !isGiven(options, 'batch-samples')) return;
  throw new DartError('both say how much an update learns from', {
    where: '--batch-groups, --batch-samples',
    hint: 'one of them',
  });
}

/** Options by the objectives that have a use for them. */
const USED_BY: Readonly<Record<string, readonly string[]>> = {
  grpo: [
    ...['loss', 'keep-entropy', 'clip-low', 'clip-high', 'dual-clip', 'no-tis', 'tis-cap', 'tis-level', 'tis-mode'],
    ...['kl-beta', 'kl-estimator', 'entropy-coef', 'aggregation', 'aggregation-constant'],
  ],
  sft: ['all-outcomes', 'min-reward'],
  dpo: ['preference-beta'],
  kto: ['preference-beta', 'desirable-weight', 'undesirable-weight'],
};

/** What was asked for and will not come about, for people: it may be meant, as where several runs share their options. */
export function advice(options: Options, { objective, learner, limits }: TrainSettings): string[] {
  const used = USED_BY[String(options.objective)] ?? [];
  const others = new Set(Object.values(USED_BY).flat());
  const idle = [...others].filter((name) => !used.includes(name) && isGiven(options, name)).map((name) => `--${name}`);
  const unused = idle.length === 0 ? [] : [`--objective ${options.objective} makes no use of ${idle.join(', ')}`];
  // The others know only later how many updates there will be.
  const online = objective.kind === 'policy' && limits.maxUpdates !== null;
  const late = online ? warmupAdvice(learner.schedule, limits.maxUpdates!) : null;
  return [...unused, ...withoutEffect(options, objective), ...(late === null ? [] : [late])];
}

/** Options of something that is off. */
function withoutEffect(options: Options, objective: Objective): string[] {
  const names = (...of: string[]) => of.filter((name) => isGiven(options, name)).map((name) => `--${name}`);
  const without = (of: string[], why: string) => (of.length === 0 ? [] : [`without effect: ${of.join(', ')}: ${why}`]);
  const lora = (numberOf(options, 'lora') ?? 0) > 0;
  const adapters = lora ? [] : names('lora-alpha', 'lora-dropout', 'lora-targets');
  const all = without(adapters, 'there are no adapters. Try: --lora RANK');
  if (objective.kind !== 'policy') return all;
  const { tisCap, klBeta, aggregation } = objective.policy;
  const weigh = options['no-tis'] === true ? 'leave --no-tis out' : '--tis-cap C';
  if (tisCap === null) all.push(...without(names('tis-level', 'tis-mode'), `w is 1. Try: ${weigh}`));
  if (klBeta === 0) all.push(...without(names('kl-estimator'), 'there is no KL term. Try: --kl-beta B'));
  if (aggregation !== 'constant')
    all.push(...without(names('aggregation-constant'), `the mean is ${aggregation}. Try: --aggregation constant`));
  return all;
}

/** Whether an option has a value that is not its default. */
function isGiven(options: Options, name: string): boolean {
  const usual = TRAIN_OPTIONS.find((option) => option.name === name)?.default;
  const value = options[name];
  return value !== undefined && value !== false && value !== usual;
}
