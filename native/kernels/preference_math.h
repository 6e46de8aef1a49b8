/* DPO (Rafailov et al. 2023) and KTO (Ethayarajh et al. 2024) for one pair or one sequence, in double. */
#ifndef DART_PREFERENCE_MATH_H
#define DART_PREFERENCE_MATH_H

#include "policy_math.h"

namespace dart {

struct Scored {
  double loss;
  double slope; /* d loss / d (log-probability of the policy) */
};

DART_SHARED_CODE double sigmoid(double x) {
  if (x >= 0) return 1.0 / (1.0 + exp(-x));
  const double e = exp(x);
  return e / (1.0 + e);
}

/* -ln sigmoid(x) without overflow. */
DART_SHARED_CODE double softplus_of_minus(double x) { return x >= 0 ? log1p(exp(-x)) : log1p(exp(x)) - x; }

/* One pair; the slope is by the chosen sequence, the rejected one's is its negative. */
DART_SHARED_CODE Scored dpo_pair(const dart_dpo_args &args, int64_t i) {
  const double margin = (args.policy_chosen[i] - args.ref_chosen[i]) - (args.policy_rejected[i] - args.ref_rejected[i]);
  return {softplus_of_minus(args.beta * margin), -args.beta * sigmoid(-args.beta * margin)};
}

DART_SHARED_CODE Scored kto_sequence(const dart_kto_args &args, int64_t i) {
  const bool desirable = args.desirable[i] != 0;
  const double weight = desirable ? args.desirable_weight : args.undesirable_weight;
  const double sign = desirable ? 1.0 : -1.0;
  const double s = sigmoid(sign * args.beta * (args.policy[i] - args.ref[i] - args.reference_point));
  return {weight * (1.0 - s), -sign * weight * args.beta * s * (1.0 - s)};
}

}  // namespace dart

#endif
