/*
 * The per-token formulas of the policy loss (design §9), once, for the CPU and for CUDA: everything that happens to a
 * token after its log-probability and entropy are known. Doubles throughout: this is N work beside N * V.
 *
 *   r = exp(logp - logo)                          ratio; GSPO: exp of the sequence's mean, gradient through each token
 *   w = min(exp(logo - logm), C)                  no gradient; log-ratio clamped to +-20
 *   L = w * -min(r A, clip(r, 1 - lo, 1 + hi) A)  + beta * kl(logf - logp) - c * H
 */
#ifndef DART_POLICY_MATH_H
#define DART_POLICY_MATH_H

#include <cmath>

#include "dart_kernels.h"

#ifdef __CUDACC__
#define DART_SHARED_CODE __host__ __device__ inline
#else
#define DART_SHARED_CODE inline
#endif

namespace dart {

constexpr double kLogRatioClamp = 20.0;
/* A weight counts as above the cap only by more than this share: a policy that samples and learns the same token differs by rounding. */
constexpr double kCapTolerance = 1e-4;
/* Where exp would leave the range of f32; no ratio that a clip range keeps comes near. */
constexpr double kRatioExponentLimit = 80.0;
/* No exponent that a kernel takes of a row is below this, in nats: an entry without mass has one of its own (softmax.cuh, vector_exp.h). */
constexpr double kLeastExponent = -140.0;

/* What the row pass leaves for the rest. */
struct RowStatistics {
  float maximum;    /* greatest logit, before the temperature */
  float log_sum;    /* ln of the sum of exp((logit - maximum) / T) */
  float target;     /* logit of the target */
  float entropy;    /* nats */
};

/* What a sequence's tokens share. */
struct SequenceMeans {
  double log_ratio;
  double log_weight;
};

/* A token's results, and what its row's gradient needs. */
struct TokenTerms {
  double logp;
  double ratio;
  double weight;
  double loss;
  double d_logp;    /* d loss / d logp, before scale */
  double d_entropy; /* d loss / d entropy, before scale */
  double approx_kl;
  double reference_kl;
  double log_weight; /* logo - logm; NaN when unscored */
  bool clipped;
  bool truncated;
  bool has_reference;
};

enum class RowState { scored, ignored, excluded };

DART_SHARED_CODE bool is_nan(double x) { return x != x; }
DART_SHARED_CODE bool finite(double x) { return x - x == 0.0; }

DART_SHARED_CODE double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

DART_SHARED_CODE bool needs_sequences(const dart_policy_loss_args &args) {
  return args.loss == DART_GSPO || (args.tis_cap > 0 && args.tis_level == DART_SEQUENCE);
}

DART_SHARED_CODE bool is_ignored(const dart_policy_loss_args &args, int64_t row) {
  return args.target[row] < 0 || (args.mask != nullptr && args.mask[row] == 0);
}

DART_SHARED_CODE RowState state_of(const dart_policy_loss_args &args, int64_t row, const RowStatistics &statistics) {
  if (is_ignored(args, row)) return RowState::ignored;
  return statistics.target == -INFINITY ? RowState::excluded : RowState::scored;
}

/* (z_y - m) / T - ln s: the difference first, so that logits of 1e4 keep their digits. */
DART_SHARED_CODE double log_probability(const RowStatistics &row, double temperature) {
  return ((double)row.target - (double)row.maximum) / temperature - (double)row.log_sum;
}

/* What is reported for a target: -inf when its entry is excluded. */
DART_SHARED_CODE float target_logp(const RowStatistics &row, double temperature) {
  return row.target == -INFINITY ? -INFINITY : (float)log_probability(row, temperature);
}

/* logp - logo; 0 when there is no old log-probability: the current policy is the old one. */
DART_SHARED_CODE double log_ratio(const dart_policy_loss_args &args, int64_t row, double logp) {
  if (args.old_logp == nullptr || !finite(args.old_logp[row])) return 0.0;
  return logp - (double)args.old_logp[row];
}

/* logo - logm, unclamped; NaN when the rollout did not score the token. */
DART_SHARED_CODE double log_weight(const dart_policy_loss_args &args, int64_t row, double logp) {
  if (args.rollout_logp == nullptr || !finite(args.rollout_logp[row])) return NAN;
  return logp - log_ratio(args, row, logp) - (double)args.rollout_logp[row];
}

/* Sums over a sequence's scored tokens; the weight's over those that the rollout scored too. */
struct SequenceSums {
  double ratio = 0, ratio_count = 0;
  double weight = 0, weight_count = 0;
};

DART_SHARED_CODE void add_to_sequence(SequenceSums &sums, const dart_policy_loss_args &args, int64_t row, const RowStatistics &statistics) {
  const double logp = log_probability(statistics, args.temperature);
  sums.ratio += log_ratio(args, row, logp);
  sums.ratio_count += 1;
  const double d = log_weight(args, row, logp);
  if (!finite(d)) return;
  sums.weight += clamp(d, -kLogRatioClamp, kLogRatioClamp);
  sums.weight_count += 1;
}

/* A sequence that the rollout did not score has no weight of its own: NaN, read as 1. */
DART_SHARED_CODE SequenceMeans sequence_means(const SequenceSums &sums) {
  return {sums.ratio_count > 0 ? sums.ratio / sums.ratio_count : 0.0, sums.weight_count > 0 ? sums.weight / sums.weight_count : NAN};
}

/* w, at most the cap, and whether the cap cut something off. A token without a rollout log-probability has weight 1. */
DART_SHARED_CODE void apply_weight(const dart_policy_loss_args &args, double d, TokenTerms &terms) {
  terms.weight = 1.0;
  terms.truncated = false;
  if (!(args.tis_cap > 0) || !finite(d)) return;
  const double weight = exp(clamp(d, -kLogRatioClamp, kLogRatioClamp));
  terms.truncated = weight > args.tis_cap * (1 + kCapTolerance);
  terms.weight = weight > args.tis_cap ? args.tis_cap : weight;
  if (terms.truncated && args.tis_mode == DART_MASK) terms.weight = 0.0;
}

/* Loss before weight, KL and entropy, and its derivative by logp. */
DART_SHARED_CODE void apply_surrogate(const dart_policy_loss_args &args, double advantage, TokenTerms &terms) {
  const double ratio = terms.ratio, low = 1.0 - args.clip_low, high = 1.0 + args.clip_high;
  if (args.loss == DART_SFT) {
    terms.clipped = false;
    terms.loss = -advantage * terms.logp;
    terms.d_logp = -advantage;
    return;
  }
  if (args.loss == DART_CISPO) { /* one-sided, no gradient through the ratio */
    terms.clipped = ratio > high;
    terms.d_logp = -(terms.clipped ? high : ratio) * advantage;
    terms.loss = terms.d_logp * terms.logp;
    return;
  }
  terms.clipped = ratio < low || ratio > high;
  const double plain = ratio * advantage, limited = clamp(ratio, low, high) * advantage;
  const bool flat = terms.clipped && limited < plain;
  terms.loss = flat ? -limited : -plain;
  terms.d_logp = flat ? 0.0 : -plain; /* d r / d logp = r */
  const double ceiling = -args.dual_clip * advantage;
  if (args.dual_clip > 0 && advantage < 0 && terms.loss > ceiling) {
    terms.loss = ceiling;
    terms.d_logp = 0.0;
  }
}

/* kl(d), d = logf - logp clamped to +-20, and its derivative by logp: 0 where clamped. */
DART_SHARED_CODE void add_reference_kl(const dart_policy_loss_args &args, int64_t row, TokenTerms &terms) {
  terms.reference_kl = 0.0;
  terms.has_reference = args.ref_logp != nullptr && finite(args.ref_logp[row]);
  if (!terms.has_reference) return;
  const double raw = (double)args.ref_logp[row] - terms.logp;
  const double d = clamp(raw, -kLogRatioClamp, kLogRatioClamp);
  double slope = 0.0; /* d kl / d d */
  if (args.kl == DART_K1) {
    terms.reference_kl = -d;
    slope = -1.0;
  } else if (args.kl == DART_K2) {
    terms.reference_kl = d * d / 2;
    slope = d;
  } else {
    terms.reference_kl = expm1(d) - d;
    slope = expm1(d);
  }
  if (args.kl_beta == 0) return;
  terms.loss += args.kl_beta * terms.reference_kl;
  if (raw == d) terms.d_logp -= args.kl_beta * slope;
}

/* Everything about one scored token. */
DART_SHARED_CODE TokenTerms token_terms(const dart_policy_loss_args &args, int64_t row, const RowStatistics &statistics, SequenceMeans means) {
  TokenTerms terms;
  terms.logp = log_probability(statistics, args.temperature);
  const double own = log_ratio(args, row, terms.logp);
  const double limited = clamp(own, -kRatioExponentLimit, kRatioExponentLimit);
  terms.approx_kl = expm1(limited) - limited;
  terms.ratio = exp(clamp(args.loss == DART_GSPO ? means.log_ratio : own, -kRatioExponentLimit, kRatioExponentLimit));
  terms.log_weight = log_weight(args, row, terms.logp);
  apply_weight(args, args.tis_level == DART_SEQUENCE ? means.log_weight : terms.log_weight, terms);
  apply_surrogate(args, args.advantage == nullptr ? 1.0 : (double)args.advantage[row], terms);
  terms.loss *= terms.weight;
  terms.d_logp *= terms.weight;
  add_reference_kl(args, row, terms);
  terms.loss -= args.entropy_coefficient * (double)statistics.entropy;
  terms.d_entropy = -args.entropy_coefficient;
  return terms;
}

/* The greatest number of a type. */
DART_SHARED_CODE double greatest_of_type(int32_t type) { return type == DART_F16 ? 65504.0 : type == DART_BF16 ? 0x1.fep127 : 0x1.fffffep127; }

/* Not so for NaN. */
DART_SHARED_CODE bool fits(double x, int32_t type) { return fabs(x) <= greatest_of_type(type); }

/*
 * Whether a row's gradient [g (delta_jy - p_j) - h p_j (ln p_j + H)] / T can be written: its factors are f32 in the
 * kernels, and its greatest entry has the type of dlogits. That entry is at most |g| (1 - p_y) + |h| max(1 / e, H max p).
 */
DART_SHARED_CODE bool gradient_fits(const dart_policy_loss_args &args, const TokenTerms &terms, double scale, const RowStatistics &row) {
  if (args.dlogits == nullptr) return true;
  const double g = fabs(scale * terms.d_logp / args.temperature), h = fabs(scale * terms.d_entropy / args.temperature);
  const double entropy = (double)row.entropy, log_sum = (double)row.log_sum;
  if (!fits(g + h * (entropy + fabs(log_sum) - kLeastExponent), DART_F32)) return false;
  const double widest = entropy * exp(-log_sum);
  return fits(g * -expm1(terms.logp) + h * (widest > 0.37 ? widest : 0.37), args.dlogits_type);
}

/* Whether everything that a scored row leaves behind is finite in the type that it is written in. */
DART_SHARED_CODE bool is_usable(const dart_policy_loss_args &args, const TokenTerms &terms, double scale, const RowStatistics &row) {
  const bool token = fits(terms.logp, DART_F32) && finite((double)row.entropy) && fits(terms.loss, DART_F32) && fits(scale * terms.loss, DART_F32);
  return token && gradient_fits(args, terms, scale, row);
}

/* Adds one scored token to the sums. */
DART_SHARED_CODE void count_token(dart_policy_statistics &sums, const dart_policy_loss_args &args, const TokenTerms &terms, double scale,
                                  const RowStatistics &row) {
  sums.tokens += 1;
  sums.nonfinite += is_usable(args, terms, scale, row) ? 0 : 1;
  sums.loss += scale * terms.loss;
  sums.approx_kl += terms.approx_kl;
  sums.clipped += terms.clipped ? 1 : 0;
  sums.entropy += (double)row.entropy;
  sums.reference_kl += terms.reference_kl;
  sums.reference_tokens += terms.has_reference ? 1 : 0;
  sums.weight += terms.weight;
  sums.weight_max = terms.weight > sums.weight_max ? terms.weight : sums.weight_max;
  sums.truncated += terms.truncated ? 1 : 0;
  if (!finite(terms.log_weight)) return;
  sums.rollout_tokens += 1;
  sums.logp_difference += fabs(terms.log_weight);
  sums.log_weight += terms.log_weight;
}

}  // namespace dart

#endif
