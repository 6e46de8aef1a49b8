/* The number formats and vectors of emulated CUDA: bf16 and f16 as bits, 16- and 8-byte vectors that check their alignment. */
#ifndef DART_CUDA_EMULATE_TYPES_H
#define DART_CUDA_EMULATE_TYPES_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};

namespace emulate {

/* What a GPU traps: a vector at an address that is no multiple of its size. */
template <typename T>
T *aligned(T *pointer) {
  if (reinterpret_cast<uintptr_t>(pointer) % sizeof(T) == 0) return pointer;
  std::fprintf(stderr, "emulated CUDA: misaligned access to %zu bytes at %p\n", sizeof(T), static_cast<const void *>(pointer));
  std::abort();
}

}  // namespace emulate

inline float __uint_as_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t __float_as_uint(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* bf16: the upper half of an f32, rounded to nearest even. */
struct __nv_bfloat16 {
  uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 value) { return __uint_as_float(static_cast<uint32_t>(value.bits) << 16); }

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (std::isnan(value)) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/* f16: 5 bits of exponent, 10 of fraction; rounded to nearest even. */
struct __half {
  uint16_t bits;
};

inline float __half2float(__half value) {
  const int sign = value.bits >> 15, exponent = (value.bits >> 10) & 31, fraction = value.bits & 1023;
  const float size = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return sign ? -size : size;
}

inline __half __float2half_rn(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float size = std::fabs(value);
  if (std::isnan(value)) return {0x7fff};
  if (size >= 65520) return {static_cast<uint16_t>(sign | 0x7c00)};
  int exponent;
  std::frexp(size, &exponent); /* size in [2^(exponent - 1), 2^exponent) */
  const int step = size == 0 || exponent < -13 ? -24 : exponent - 11;
  const int digits = static_cast<int>(std::nearbyint(std::ldexp(size, -step))); /* may round up into the next exponent: still right */
  return {static_cast<uint16_t>(sign | (((step + 24) << 10) + digits))};
}

#endif
