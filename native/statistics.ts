/** Fields of `dart_policy_statistics` (native/kernels/dart_kernels.h), in its order. */
const FIELDS = [
  'tokens',
  'ignored',
  'excluded',
  'nonfinite',
  'loss',
  'approxKl',
  'clipped',
  'entropy',
  'referenceKl',
  'referenceTokens',
  'weight',
  'weightMax',
  'truncated',
  'rolloutTokens',
  'logpDifference',
  'logWeight',
] as const;

/**
 * Sums over scored tokens. `loss` is the sum of scale * token loss, `weightMax` a maximum, `excluded` counts rows whose
 * target had logit -inf, `nonfinite` rows that must not be stepped on.
 */
export type PolicyStatistics = Record<(typeof FIELDS)[number], number>;

export const statisticsLength = FIELDS.length;

/** Names for the doubles that the kernel fills. */
export function statisticsFrom(sums: Float64Array): PolicyStatistics {
  return Object.fromEntries(FIELDS.map((field, i) => [field, sums[i]!])) as PolicyStatistics;
}

/** Sums of several micro-batches as if they had been one. */
export function addStatistics(parts: readonly PolicyStatistics[]): PolicyStatistics {
  const total = statisticsFrom(new Float64Array(statisticsLength));
  for (const part of parts) {
    for (const field of FIELDS) {
      total[field] = field === 'weightMax' ? Math.max(total[field], part[field]) : total[field] + part[field];
    }
  }
  return total;
}

/** What a trainer reports (names of cleanrl and verl); a mean over no token is null. */
export interface PolicySummary {
  loss: number;
  tokens: number;
  /** Mean of (r - 1) - ln r over tokens, r = exp(logp - logo). */
  approx_kl: number | null;
  /** Share of tokens with a ratio outside the clip range. */
  clipfrac: number | null;
  /** Mean, nats per token. */
  entropy: number | null;
  /** Mean of the chosen estimator, before beta. */
  reference_kl: number | null;
  /** Mean and greatest importance weight. */
  weight_mean: number | null;
  weight_max: number;
  /** Share of tokens whose weight met the cap. */
  truncated: number | null;
  /** Mean |logo - logm|: how far trainer and rollout engine are apart. */
  logp_difference: number | null;
}

/** Means and shares of the sums. */
export function summarise(sums: PolicyStatistics): PolicySummary {
  const per = (sum: number, count: number) => (count > 0 ? sum / count : null);
  return {
    loss: sums.loss,
    tokens: sums.tokens,
    approx_kl: per(sums.approxKl, sums.tokens),
    clipfrac: per(sums.clipped, sums.tokens),
    entropy: per(sums.entropy, sums.tokens),
    reference_kl: per(sums.referenceKl, sums.referenceTokens),
    weight_mean: per(sums.weight, sums.tokens),
    weight_max: sums.weightMax,
    truncated: per(sums.truncated, sums.tokens),
    logp_difference: per(sums.logpDifference, sums.rolloutTokens),
  };
}
