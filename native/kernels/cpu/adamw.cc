/* AdamW (Loshchilov and Hutter 2019) and the global gradient norm. */
#include <cmath>

#include "../adamw_math.h"
#include "../validate.h"
#include "error.h"
#include "instructions.h"
#include "threads.h"
#include "types.h"

namespace dart {
namespace {

constexpr int64_t kChunk = 1 << 15; /* elements that a thread takes at a time; the norm's sums are cut there too */

int64_t chunks_of(int64_t size) { return (size + kChunk - 1) / kChunk; }

double count_nonfinite(const void *gradient, int32_t type, int64_t begin, int64_t end) {
  return with_type(type, [&]<typename T>(T *) {
    double count = 0;
    for (int64_t i = begin; i < end; i++) count += std::isfinite(to_float(static_cast<const T *>(gradient)[i])) ? 0 : 1;
    return count;
  });
}

}  // namespace
}  // namespace dart

extern "C" int64_t dart_gradient_norm_workspace(int64_t size) { return dart::chunks_of(size) * static_cast<int64_t>(sizeof(double)); }

/* Squares of f32 cannot overflow in double: a sum that is not finite has an entry that is not. */
extern "C" int dart_gradient_norm(const dart_gradient_norm_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  const dart::Instructions &table = dart::instructions();
  double *sums = static_cast<double *>(args->workspace);
  dart::for_pieces(args->size, dart::kChunk, args->size, [&](int64_t begin, int64_t end) {
    sums[begin / dart::kChunk] = table.sum_of_squares(args->gradient, args->gradient_type, begin, end);
  });
  for (int64_t chunk = 0; chunk < dart::chunks_of(args->size); chunk++) {
    const int64_t begin = chunk * dart::kChunk, end = begin + dart::kChunk < args->size ? begin + dart::kChunk : args->size;
    if (!std::isfinite(sums[chunk])) *args->nonfinite += dart::count_nonfinite(args->gradient, args->gradient_type, begin, end);
    *args->sum_of_squares += sums[chunk];
  }
  return DART_OK;
}

extern "C" int dart_adamw(const dart_adamw_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->nonfinite != nullptr && *args->nonfinite > 0) return DART_OK;
  dart_adamw_args scaled = *args;
  if (args->sum_of_squares != nullptr) scaled.gradient_scale *= std::fmin(1.0, args->max_grad_norm / (std::sqrt(*args->sum_of_squares) + 1e-6));
  const dart::AdamwStep step = dart::adamw_step(scaled);
  const dart::Instructions &table = dart::instructions();
  dart::for_pieces(args->size, dart::kChunk, args->size, [&](int64_t begin, int64_t end) { table.adamw({args, begin, end}, step); });
  return DART_OK;
}
