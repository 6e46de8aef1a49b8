/* AdamW and the global gradient norm; sums in a fixed order, so that the same gradients give the same bits. */
#include "../adamw_math.h"
#include "../validate.h"
#include "common.cuh"

namespace dart {
namespace {

constexpr int kNormBlocks = 256; /* at most kThreads: one block adds up their results */

struct Partial {
  double squares;
  double nonfinite;
};

__global__ void norm_kernel(const float *gradient, int64_t size, Partial *partial) {
  double squares = 0, nonfinite = 0;
  for (int64_t i = (int64_t)blockIdx.x * kThreads + threadIdx.x; i < size; i += (int64_t)kNormBlocks * kThreads) {
    const double g = gradient[i];
    squares += g * g;
    nonfinite += finite(g) ? 0 : 1;
  }
  squares = block_reduce(squares, Add());
  nonfinite = block_reduce(nonfinite, Add());
  if (threadIdx.x == 0) partial[blockIdx.x] = {squares, nonfinite};
}

__global__ void norm_total_kernel(const Partial *partial, double *sum_of_squares, double *nonfinite) {
  const double squares = block_reduce(threadIdx.x < kNormBlocks ? partial[threadIdx.x].squares : 0.0, Add());
  const double bad = block_reduce(threadIdx.x < kNormBlocks ? partial[threadIdx.x].nonfinite : 0.0, Add());
  if (threadIdx.x != 0) return;
  *sum_of_squares += squares;
  *nonfinite += bad;
}

__global__ void adamw_kernel(dart_adamw_args args, AdamwStep step) {
  const int64_t i = (int64_t)blockIdx.x * kThreads + threadIdx.x;
  if (i >= args.size) return;
  adamw_update(((float *)args.parameter)[i], ((const float *)args.gradient)[i], args.first_moment[i], args.second_moment[i], step);
}

}  // namespace
}  // namespace dart

extern "C" int64_t dart_gradient_norm_workspace(int64_t) { return dart::kNormBlocks * (int64_t)sizeof(dart::Partial); }

extern "C" int dart_gradient_norm(const dart_gradient_norm_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->gradient_type != DART_F32) return dart::fail(DART_BAD_ARGUMENT, "gradient must be f32");
  dart::Partial *partial = (dart::Partial *)args->workspace;
  dart::launch_kernel(dart::norm_kernel, dart::kNormBlocks, args->stream, (const float *)args->gradient, args->size, partial);
  dart::launch_kernel(dart::norm_total_kernel, 1, args->stream, partial, args->sum_of_squares, args->nonfinite);
  DART_CUDA(cudaGetLastError());
  return DART_OK;
}

extern "C" int dart_adamw(const dart_adamw_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->parameter_type != DART_F32 || args->gradient_type != DART_F32) return dart::fail(DART_BAD_ARGUMENT, "weights and gradient must be f32");
  if (args->size == 0) return DART_OK;
  dart::launch_kernel(dart::adamw_kernel, dart::blocks_for(args->size), args->stream, *args, dart::adamw_step(*args));
  DART_CUDA(cudaGetLastError());
  return DART_OK;
}
