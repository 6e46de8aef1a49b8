/* Sixteen floats in one AVX-512 register. The three lanes_*.h offer the same functions. */
#ifndef DART_CPU_LANES_AVX512_H
#define DART_CPU_LANES_AVX512_H

#include <immintrin.h>

#include "types.h"

#define DART_LANES inline __attribute__((always_inline))

namespace dart {
namespace {

struct Lanes {
  __m512 v;
};
/* Sixteen doubles. */
struct DoubleLanes {
  __m512d low, high;
};

DART_LANES Lanes all(float x) { return {_mm512_set1_ps(x)}; }
DART_LANES Lanes add(Lanes a, Lanes b) { return {_mm512_add_ps(a.v, b.v)}; }
DART_LANES Lanes subtract(Lanes a, Lanes b) { return {_mm512_sub_ps(a.v, b.v)}; }
DART_LANES Lanes multiply(Lanes a, Lanes b) { return {_mm512_mul_ps(a.v, b.v)}; }
DART_LANES Lanes divide(Lanes a, Lanes b) { return {_mm512_div_ps(a.v, b.v)}; }
DART_LANES Lanes square_root(Lanes a) { return {_mm512_sqrt_ps(a.v)}; }
/* a * b + c, rounded once. */
DART_LANES Lanes multiply_add(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
/* c - a * b, rounded once. */
DART_LANES Lanes subtract_product(Lanes c, Lanes a, Lanes b) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }
/* The greater; b where a is NaN. */
DART_LANES Lanes greater(Lanes a, Lanes b) { return {_mm512_max_ps(a.v, b.v)}; }
/* x, or floor where x is below it; NaN stays NaN. */
DART_LANES Lanes at_least(Lanes x, Lanes floor) { return {_mm512_max_ps(floor.v, x.v)}; }
/* 2^n, n the integer in the low bits of 1.5 * 2^23 + n; 0 for n = -127. */
DART_LANES Lanes power_of_two(Lanes shifted) {
  const __m512i biased = _mm512_add_epi32(_mm512_castps_si512(shifted.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(biased, 23))};
}

DART_LANES Lanes load(const float *from) { return {_mm512_loadu_ps(from)}; }
DART_LANES Lanes load(const Bf16 *from) {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
}
DART_LANES Lanes load(const Half *from) { return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)))}; }

DART_LANES void store(Lanes a, float *to) { _mm512_storeu_ps(to, a.v); }
DART_LANES void store(Lanes a, Bf16 *to) {
  const __m512i bits = _mm512_castps_si512(a.v), high = _mm512_srli_epi32(bits, 16);
  const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd), 16);
  const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  const __m512i result = _mm512_mask_or_epi32(rounded, nan, high, _mm512_set1_epi32(0x40));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_cvtepi32_epi16(result));
}
DART_LANES void store(Lanes a, Half *to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/* Past the caches; `to` on a multiple of 64 bytes. */
DART_LANES void store_around(Lanes a, float *to) { _mm512_stream_ps(to, a.v); }
/* What store_around wrote is there for other threads. */
DART_LANES void settle() { _mm_sfence(); }
/* Asks for the line of an address, for the second cache. */
DART_LANES void fetch(const void *address) { _mm_prefetch(static_cast<const char *>(address), _MM_HINT_T1); }

/* Pairwise: lane i and lane i + 8, then i + 4, i + 2, i + 1. */
DART_LANES float sum_of(Lanes a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
DART_LANES float greatest_of(Lanes a) { return _mm512_reduce_max_ps(a.v); }

DART_LANES DoubleLanes no_doubles() { return {_mm512_setzero_pd(), _mm512_setzero_pd()}; }
DART_LANES DoubleLanes add_squares(DoubleLanes sums, Lanes a) {
  const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(a.v)), high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(a.v, 1));
  return {_mm512_fmadd_pd(low, low, sums.low), _mm512_fmadd_pd(high, high, sums.high)};
}
DART_LANES void store(const DoubleLanes &a, double *to) {
  _mm512_storeu_pd(to, a.low);
  _mm512_storeu_pd(to + 8, a.high);
}

}  // namespace
}  // namespace dart

#endif
