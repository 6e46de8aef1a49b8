/* Mean preference loss and its slopes by the sequences' log-probabilities; a sequence's slope then scales its tokens. */
#include "../preference_math.h"

extern "C" int dart_dpo(const dart_dpo_args *args) {
  *args->loss = 0;
  for (int64_t i = 0; i < args->pairs; i++) {
    const dart::Scored pair = dart::dpo_pair(*args, i);
    *args->loss += pair.loss / args->pairs;
    args->d_policy_chosen[i] = pair.slope / args->pairs;
    args->d_policy_rejected[i] = -pair.slope / args->pairs;
  }
  return DART_OK;
}

extern "C" int dart_kto(const dart_kto_args *args) {
  *args->loss = 0;
  for (int64_t i = 0; i < args->sequences; i++) {
    const dart::Scored one = dart::kto_sequence(*args, i);
    *args->loss += one.loss / args->sequences;
    args->d_policy[i] = one.slope / args->sequences;
  }
  return DART_OK;
}
