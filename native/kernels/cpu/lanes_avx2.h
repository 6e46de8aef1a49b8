/* Sixteen floats in two AVX2 registers; what each function does: lanes_avx512.h. */
#ifndef DART_CPU_LANES_AVX2_H
#define DART_CPU_LANES_AVX2_H

#include <immintrin.h>

#include "types.h"

#define DART_LANES inline __attribute__((always_inline))

namespace dart {
namespace {

struct Lanes {
  __m256 a, b;
};
struct DoubleLanes {
  __m256d v[4];
};

DART_LANES Lanes all(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
DART_LANES Lanes add(Lanes x, Lanes y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
DART_LANES Lanes subtract(Lanes x, Lanes y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
DART_LANES Lanes multiply(Lanes x, Lanes y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
DART_LANES Lanes divide(Lanes x, Lanes y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
DART_LANES Lanes square_root(Lanes x) { return {_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)}; }
DART_LANES Lanes multiply_add(Lanes x, Lanes y, Lanes z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
DART_LANES Lanes subtract_product(Lanes z, Lanes x, Lanes y) { return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)}; }
DART_LANES Lanes greater(Lanes x, Lanes y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
DART_LANES Lanes at_least(Lanes x, Lanes floor) { return {_mm256_max_ps(floor.a, x.a), _mm256_max_ps(floor.b, x.b)}; }

DART_LANES __m256 power_of_two(__m256 shifted) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(127)), 23));
}
DART_LANES Lanes power_of_two(Lanes shifted) { return {power_of_two(shifted.a), power_of_two(shifted.b)}; }

DART_LANES __m128i sixteen_bytes(const void *from) { return _mm_loadu_si128(static_cast<const __m128i *>(from)); }
DART_LANES __m256 from_bf16(__m128i bits) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16)); }

DART_LANES Lanes load(const float *from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
DART_LANES Lanes load(const Bf16 *from) { return {from_bf16(sixteen_bytes(from)), from_bf16(sixteen_bytes(from + 8))}; }
DART_LANES Lanes load(const Half *from) { return {_mm256_cvtph_ps(sixteen_bytes(from)), _mm256_cvtph_ps(sixteen_bytes(from + 8))}; }

/* In the low half of each 32 bits. */
DART_LANES __m256i to_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x), high = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, _mm256_or_si256(high, _mm256_set1_epi32(0x40)), nan);
}

DART_LANES void store(Lanes x, float *to) {
  _mm256_storeu_ps(to, x.a);
  _mm256_storeu_ps(to + 8, x.b);
}
DART_LANES void store(Lanes x, Bf16 *to) {
  const __m256i packed = _mm256_packus_epi32(to_bf16(x.a), to_bf16(x.b)); /* within each half of the register */
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm256_permute4x64_epi64(packed, 0xd8));
}
DART_LANES void store(Lanes x, Half *to) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm256_cvtps_ph(x.a, nearest));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to + 8), _mm256_cvtps_ph(x.b, nearest));
}
DART_LANES void store_around(Lanes x, float *to) {
  _mm256_stream_ps(to, x.a);
  _mm256_stream_ps(to + 8, x.b);
}
DART_LANES void settle() { _mm_sfence(); }
DART_LANES void fetch(const void *address) { _mm_prefetch(static_cast<const char *>(address), _MM_HINT_T1); }

DART_LANES float sum_of(Lanes x) {
  const __m256 eight = _mm256_add_ps(x.a, x.b);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
DART_LANES float greatest_of(Lanes x) {
  const __m256 eight = _mm256_max_ps(x.a, x.b);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

DART_LANES DoubleLanes no_doubles() {
  const __m256d zero = _mm256_setzero_pd();
  return {{zero, zero, zero, zero}};
}
DART_LANES __m256d add_square(__m256d sum, __m128 x) {
  const __m256d wide = _mm256_cvtps_pd(x);
  return _mm256_fmadd_pd(wide, wide, sum);
}
DART_LANES DoubleLanes add_squares(DoubleLanes sums, Lanes x) {
  return {{add_square(sums.v[0], _mm256_castps256_ps128(x.a)), add_square(sums.v[1], _mm256_extractf128_ps(x.a, 1)),
           add_square(sums.v[2], _mm256_castps256_ps128(x.b)), add_square(sums.v[3], _mm256_extractf128_ps(x.b, 1))}};
}
DART_LANES void store(const DoubleLanes &sums, double *to) {
  for (int k = 0; k < 4; k++) _mm256_storeu_pd(to + 4 * k, sums.v[k]);
}

}  // namespace
}  // namespace dart

#endif
