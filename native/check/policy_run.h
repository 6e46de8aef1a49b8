/* Calls dart_policy_loss on inputs of the host and brings everything back. */
#ifndef DART_CHECK_POLICY_RUN_H
#define DART_CHECK_POLICY_RUN_H

#include <vector>

#include "library.h"
#include "policy_cases.h"

namespace check {

struct PolicyResult {
  std::vector<float> logp, entropy, ratio, weight, token_loss;
  std::vector<double> dlogits; /* [N, V]; empty when none was asked for */
  dart_policy_statistics statistics;
  std::vector<unsigned char> bytes; /* of dlogits, gaps between rows included: to compare two runs */
  bool guarded = true;              /* nothing was written beside an output or between its rows */
  bool logits_kept = true;          /* a separate output left the logits alone */
};

PolicyResult run_policy_loss(const Library &library, const PolicyCase &one, const PolicyInputs &in);

/* Rows of numbers as the memory of a matrix; the gaps between rows hold 0x77. */
std::vector<unsigned char> matrix_bytes(const std::vector<double> &values, int64_t vocabulary, int64_t stride, int32_t type);

}  // namespace check

#endif
