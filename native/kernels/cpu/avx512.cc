/* The loops of vector_*.h for AVX-512. Only what stands between push and pop is compiled for it. */
#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
/* What the intrinsics themselves leave undefined on purpose, GCC 12 takes for a mistake (its bug 105593). */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <cfloat>
#include <cmath>
#include <cstring>
#include <immintrin.h>

#include "instructions.h"
#include "types.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c")
#endif

#include "lanes_avx512.h"
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
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

const Instructions kAvx512 = {"avx512", "AVX-512", available, row_sums, gradient, gradient_from_kept, sum_of_squares, adamw};

}  // namespace dart

#endif
