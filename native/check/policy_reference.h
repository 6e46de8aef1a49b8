/*
 * The policy loss in double, written from its definition (design §9; Yu et al. 2025 for the clip range, Zheng et al. 2025 for
 * GSPO, Yao et al. 2025 for truncated importance sampling) and from nothing that the kernels use.
 */
#ifndef DART_CHECK_POLICY_REFERENCE_H
#define DART_CHECK_POLICY_REFERENCE_H

#include <cstdint>
#include <string>
#include <vector>

#include "numbers.h"

namespace check {

struct PolicyOptions {
  double temperature = 1, clip_low = 0.2, clip_high = 0.28, dual_clip = 0;
  double tis_cap = 0, kl_beta = 0, entropy_coefficient = 0;
  int32_t loss = DART_GRPO, tis_level = DART_TOKEN, tis_mode = DART_TRUNCATE, kl = DART_K3;
};

/* N rows of V logits and what belongs to them. An empty vector stands for an absent array. */
struct PolicyInputs {
  PolicyOptions options;
  int64_t rows = 0, vocabulary = 0;
  std::vector<double> logits;
  std::vector<int32_t> target;
  std::vector<uint8_t> mask;
  std::vector<float> scale, advantage, old_logp, rollout_logp, ref_logp;
  std::vector<int32_t> offsets; /* of sequences; always there */

  const double *row(int64_t t) const { return logits.data() + t * vocabulary; }
  bool ignored(int64_t t) const { return target[t] < 0 || (!mask.empty() && mask[t] == 0); }
  bool excluded(int64_t t) const { return !ignored(t) && row(t)[target[t]] == -INFINITY; }
  bool scored(int64_t t) const { return !ignored(t) && !excluded(t); }
};

struct RowTerms {
  double logp = 0, entropy = 0, maximum = 0, log_sum = 0; /* of logits / T; log_sum after the maximum was taken out */
};

/* One row; the target may be negative: logp is then 0. */
RowTerms row_terms(const double *logits, int64_t vocabulary, int32_t target, double temperature);

/* What carries no gradient: fixed where the loss is differentiated. */
struct Frozen {
  double logp = 0;           /* of the token at the point of differentiation */
  double sequence_ratio = 1; /* GSPO */
  double weight = 1;
  double log_weight = 0; /* logo - logm; NaN when the rollout did not score the token */
  bool truncated = false;
};

/* L of one scored token as a function of its log-probability and entropy. */
double token_loss(const PolicyInputs &in, int64_t t, double logp, double entropy, const Frozen &frozen);

struct TokenTerms {
  RowTerms row;
  Frozen frozen;
  double ratio = 0, loss = 0;
  double d_logp = 0; /* dL / dlogp */
  double approx_kl = 0, reference_kl = 0;
  bool clipped = false, has_reference = false;
};

/* All scored tokens of sequence s; other entries of `tokens` stay as they are. `rows` are the row terms. */
void sequence_tokens(const PolicyInputs &in, int64_t s, const std::vector<RowTerms> &rows, std::vector<TokenTerms> &tokens);

/* Distance of the sequence's tokens from where a rounding flips a branch: edges of the clips, the cap, the clamp. */
double distance_from_edges(const PolicyInputs &in, int64_t s, const std::vector<TokenTerms> &tokens);

/* d loss / d logits of row t, scale included: V numbers. */
std::vector<double> row_gradient(const PolicyInputs &in, int64_t t, const TokenTerms &token);

struct Slope {
  double value, uncertainty; /* of the subtraction, and of the curvature */
};

/* The same for one entry by central differences of the loss. */
Slope difference_quotient(const PolicyInputs &in, int64_t t, int64_t entry, const TokenTerms &token);

}  // namespace check

#endif
