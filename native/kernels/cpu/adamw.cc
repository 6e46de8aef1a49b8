/* AdamW (Loshchilov and Hutter 2019) and the global gradient norm. */
#include <cmath>

#include "../adamw_math.h"
#include "../validate.h"
#include "error.h"
#include "vector.h"

namespace {

/* The clip factor of dart_adamw_args; 0 when nothing may change. */
double clip_factor(const dart_adamw_args &args) {
  if (args.nonfinite != nullptr && *args.nonfinite > 0) return 0;
  if (args.sum_of_squares == nullptr) return args.gradient_scale;
  return args.gradient_scale * std::fmin(1.0, args.max_grad_norm / (std::sqrt(*args.sum_of_squares) + 1e-6));
}

}  // namespace

extern "C" int64_t dart_gradient_norm_workspace(int64_t) { return 0; }

extern "C" int dart_gradient_norm(const dart_gradient_norm_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->gradient_type != DART_F32) return dart::fail(DART_BAD_ARGUMENT, "gradient must be f32");
  const float *gradient = static_cast<const float *>(args->gradient);
  const double sum = dart::block_sum_of_squares(gradient, args->size);
  *args->sum_of_squares += sum;
  if (std::isfinite(sum)) return DART_OK;
  for (int64_t i = 0; i < args->size; i++) *args->nonfinite += std::isfinite(gradient[i]) ? 0 : 1;
  return DART_OK;
}

extern "C" int dart_adamw(const dart_adamw_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->parameter_type != DART_F32 || args->gradient_type != DART_F32) return dart::fail(DART_BAD_ARGUMENT, "weights and gradient must be f32");
  dart_adamw_args scaled = *args;
  scaled.gradient_scale = clip_factor(*args);
  if (args->nonfinite != nullptr && *args->nonfinite > 0) return DART_OK;
  dart::block_adamw(static_cast<float *>(args->parameter), static_cast<const float *>(args->gradient), args->first_moment, args->second_moment,
                    args->size, dart::adamw_step(scaled));
  return DART_OK;
}
