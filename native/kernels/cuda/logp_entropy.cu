/* Log-probability of the target and entropy of each row: a block a row, one vectorised read, 2 bytes * N * V in bf16. */
#include "../validate.h"
#include "softmax.cuh"

namespace dart {
namespace {

template <typename T>
__global__ void __launch_bounds__(kRowThreads, 2) logp_entropy_kernel(const __grid_constant__ dart_logp_entropy_args args, int64_t first_row) {
  DART_DYNAMIC_SHARED(dynamic_shared);
  const int64_t row = first_row + blockIdx.x;
  const T *logits = (const T *)args.logits + row * args.logits_stride;
  const int32_t target = args.target[row];
  const Slice<T> slice = slice_of(logits, args.vocabulary, 0, 1);
  const float factor = factor_of(args.temperature);
  Online own;
  add_loose(logits, slice, factor, own);
  add_streamed(slice, factor, own);
  const Partial total = merge_row(own, (Exchange *)dynamic_shared, factor, 1);
  if (threadIdx.x != 0) return;
  const RowStatistics statistics = statistics_of(total, target < 0 ? -INFINITY : load(logits + target));
  args.entropy[row] = statistics.entropy;
  args.logp[row] = target < 0 ? 0.0f : target_logp(statistics, args.temperature);
}

template <typename T>
int launch_rows(const dart_logp_entropy_args &args) {
  for (int64_t first = 0; first < args.rows; first += INT32_MAX) {
    const int64_t rows = args.rows - first < INT32_MAX ? args.rows - first : INT32_MAX;
    const Shape shape = {rows, kRowThreads, 1, (int)sizeof(Exchange)};
    DART_TRY(launch(logp_entropy_kernel<T>, shape, args.stream, args, first));
  }
  return DART_OK;
}

}  // namespace
}  // namespace dart

extern "C" int dart_logp_entropy(const dart_logp_entropy_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->vocabulary > INT32_MAX) return dart::fail(DART_BAD_ARGUMENT, "vocabulary must be below 2^31, as targets are");
  if (args->logits_type == DART_F32) return dart::launch_rows<float>(*args);
  if (args->logits_type == DART_BF16) return dart::launch_rows<__nv_bfloat16>(*args);
  return dart::launch_rows<__half>(*args);
}
