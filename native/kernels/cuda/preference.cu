/* Mean preference loss and its slopes: one block, since a batch is small. */
#include "../preference_math.h"
#include "common.cuh"

namespace dart {
namespace {

__global__ void dpo_kernel(dart_dpo_args args) {
  double loss = 0;
  for (int64_t i = threadIdx.x; i < args.pairs; i += kThreads) {
    const Scored pair = dpo_pair(args, i);
    loss += pair.loss / args.pairs;
    args.d_policy_chosen[i] = pair.slope / args.pairs;
    args.d_policy_rejected[i] = -pair.slope / args.pairs;
  }
  loss = block_reduce(loss, Add());
  if (threadIdx.x == 0) *args.loss = loss;
}

__global__ void kto_kernel(dart_kto_args args) {
  double loss = 0;
  for (int64_t i = threadIdx.x; i < args.sequences; i += kThreads) {
    const Scored one = kto_sequence(args, i);
    loss += one.loss / args.sequences;
    args.d_policy[i] = one.slope / args.sequences;
  }
  loss = block_reduce(loss, Add());
  if (threadIdx.x == 0) *args.loss = loss;
}

}  // namespace
}  // namespace dart

extern "C" int dart_dpo(const dart_dpo_args *args) {
  return dart::launch(dart::dpo_kernel, {1}, args->stream, *args);
}

extern "C" int dart_kto(const dart_kto_args *args) {
  return dart::launch(dart::kto_kernel, {1}, args->stream, *args);
}
