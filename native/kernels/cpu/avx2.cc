/* The loops of vector_*.h for AVX2. Only what stands between push and pop is compiled for it. */
#if defined(__x86_64__)

#include <cfloat>
#include <cmath>
#include <cstring>
#include <immintrin.h>

#include "instructions.h"
#include "types.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

#include "lanes_avx2.h"
#include "vector_gradient.h"
#include "vector_optimizer.h"
#include "vector_sums.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace dart {

static bool available() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); /* F16C is older than either */
}

const Instructions kAvx2 = {"avx2", "AVX2", available, row_sums, gradient, gradient_from_kept, sum_of_squares, adamw};

}  // namespace dart

#endif
