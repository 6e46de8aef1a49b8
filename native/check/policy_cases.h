/* Which policy losses are tried, and random inputs for each. */
#ifndef DART_CHECK_POLICY_CASES_H
#define DART_CHECK_POLICY_CASES_H

#include <string>
#include <vector>

#include "policy_reference.h"

namespace check {

enum class Output { none, in_place, separate };

struct PolicyCase {
  std::string name;
  PolicyOptions options;
  int64_t rows = 13, vocabulary = 29;
  int32_t logits_type = DART_F32;
  Output output = Output::in_place;
  int32_t dlogits_type = DART_F32; /* of a separate output */
  int64_t gap = 0;                 /* elements between rows */
  int64_t shift = 0;               /* elements that the matrices start past an aligned address */
  double spread = 2, drift = 0.3;  /* standard deviations of logits, and of log-probabilities from one another */
  bool masks = true, old = true, rollout = true, reference = true, advantage = true;
  bool holes = false;     /* old, rollout and reference log-probabilities that are missing here and there */
  bool excluded = false;  /* -inf entries, rows whose target is one, and a row of nothing else */
  bool broken = false;    /* rows with NaN and with +inf */
  bool on_policy = false; /* the policy that sampled is the one that learns */
  bool all_ignored = false;
};

/* The presets first. Small vocabularies, and with `large` those of Qwen2.5-VL. */
std::vector<PolicyCase> policy_cases(bool large);

/* Inputs that stay clear of the places where one rounding flips a branch. */
PolicyInputs make_inputs(const PolicyCase &one, Random &random);

/* The tolerance of golden/policy_loss.json: relative, for logits of this size. */
double relative_tolerance(const PolicyInputs &in);

}  // namespace check

#endif
