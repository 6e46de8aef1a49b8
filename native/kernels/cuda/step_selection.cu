/* Step entropy and the choice of high-entropy steps within each group. Small: clarity before speed. */
#include "../quantile.h"
#include "../validate.h"
#include "common.cuh"

namespace dart {
namespace {

/* One thread a step, tokens in order: the same sum as on the CPU. */
__global__ void step_entropy_kernel(dart_step_entropy_args args) {
  const int64_t step = (int64_t)blockIdx.x * kThreads + threadIdx.x;
  if (step >= args.steps) return;
  double sum = 0, count = 0;
  for (int64_t token = args.step_offsets[step]; token < args.step_offsets[step + 1]; token++) {
    if (args.mask != nullptr && args.mask[token] == 0) continue;
    sum += args.token_entropy[token];
    count += 1;
  }
  args.step_entropy[step] = count > 0 ? sum / count : NAN;
}

/*
 * A block a group, no sort: a member's place in the order is the number of members before it, ties by index; the members
 * at the two places around the quantile give the threshold.
 */
__global__ void select_steps_kernel(dart_select_steps_args args) {
  const int group = blockIdx.x;
  __shared__ double around[2];
  if (threadIdx.x == 0) around[0] = around[1] = NAN;
  double own = 0;
  for (int64_t i = threadIdx.x; i < args.steps; i += kThreads) own += args.step_group[i] == group && !is_nan(args.step_entropy[i]) ? 1 : 0;
  const int64_t members = (int64_t)block_reduce(own, Add());
  const QuantilePlace place = quantile_place(members, 1.0 - args.keep);
  for (int64_t i = threadIdx.x; i < args.steps; i += kThreads) {
    const double value = args.step_entropy[i];
    if (args.step_group[i] != group || is_nan(value)) continue;
    int64_t before = 0;
    for (int64_t k = 0; k < args.steps; k++) {
      const double other = args.step_entropy[k];
      if (args.step_group[k] == group && (other < value || (other == value && k < i))) before++;
    }
    if (before == place.below) around[0] = value;
    if (before == place.above) around[1] = value;
  }
  __syncthreads();
  const double threshold = members > 0 ? interpolate(around[0], around[1], place.fraction) : NAN;
  if (threadIdx.x == 0) args.threshold[group] = threshold;
  for (int64_t i = threadIdx.x; i < args.steps; i += kThreads)
    if (args.step_group[i] == group) args.selected[i] = args.step_entropy[i] >= threshold ? 1 : 0;
}

}  // namespace
}  // namespace dart

extern "C" int dart_step_entropy(const dart_step_entropy_args *args) {
  return dart::launch(dart::step_entropy_kernel, dart::for_each_of(args->steps), args->stream, *args);
}

extern "C" int dart_select_steps(const dart_select_steps_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  return dart::launch(dart::select_steps_kernel, {args->groups}, args->stream, *args);
}
