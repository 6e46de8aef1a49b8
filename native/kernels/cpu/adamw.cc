/* AdamW (Loshchilov and Hutter 2019) and the global gradient norm. */
#include <cmath>

#include "../adamw_math.h"
#include "../validate.h"
#include "error.h"
#include "vector.h"

extern "C" int64_t dart_gradient_norm_workspace(void) { return 0; }

extern "C" int dart_gradient_norm(const dart_gradient_norm_args *args) {
  const double sum = dart::block_sum_of_squares(args->gradient, args->size);
  *args->sum_of_squares += sum;
  if (std::isfinite(sum)) return DART_OK;
  for (int64_t i = 0; i < args->size; i++) *args->nonfinite += std::isfinite(args->gradient[i]) ? 0 : 1;
  return DART_OK;
}

extern "C" int dart_adamw(const dart_adamw_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  dart::block_adamw(args->parameter, args->gradient, args->first_moment, args->second_moment, args->size, dart::adamw_step(*args));
  return DART_OK;
}
