/* 16-bit floats in memory, and one number at a time between them and f32. */
#ifndef DART_CPU_TYPES_H
#define DART_CPU_TYPES_H

#include <cstdint>
#include <cstring>

#include "../dart_kernels.h"

namespace dart {

/* Distinct types, so that overloads choose the conversion. */
struct Bf16 {
  uint16_t bits;
};
struct Half {
  uint16_t bits;
};

inline int64_t width_of(int32_t type) { return type == DART_F32 ? 4 : 2; }

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float to_float(float value) { return value; }
inline float to_float(Bf16 value) { return float_of(static_cast<uint32_t>(value.bits) << 16); }

/* The 10 bits of the fraction move to the top of f32's 23; 112 is the difference of the exponents' biases. */
inline float to_float(Half value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1fu, fraction = value.bits & 0x3ffu;
  if (exponent == 0) { /* subnormal: a multiple of 2^-24 */
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
  if (exponent == 0x1fu) return float_of(sign | 0x7f800000u | (fraction == 0 ? 0u : 0x400000u) | fraction << 13);
  return float_of(sign | (exponent + 112u) << 23 | fraction << 13);
}

inline void from_float(float value, float *to) { *to = value; }

/* To nearest even; NaN stays NaN. */
inline void from_float(float value, Bf16 *to) {
  const uint32_t bits = bits_of(value);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  to->bits = static_cast<uint16_t>(nan ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* To nearest even; above 65,519 infinity, NaN stays NaN. */
inline void from_float(float value, Half *to) {
  const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) {
    to->bits = static_cast<uint16_t>(sign | 0x7e00u | (size >> 13 & 0x3ffu));
  } else if (size >= 0x477ff000u) { /* 65,520 */
    to->bits = static_cast<uint16_t>(sign | 0x7c00u);
  } else if (size < 0x38800000u) { /* below 2^-14: adding 0.5 leaves the multiple of 2^-24 in the low bits */
    to->bits = static_cast<uint16_t>(sign | (bits_of(float_of(size) + 0.5f) - 0x3f000000u));
  } else {
    to->bits = static_cast<uint16_t>(sign | (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13);
  }
}

/* Calls visit with a typed null pointer: the one place where a dart_type becomes a C++ type. */
template <typename Visit>
auto with_type(int32_t type, Visit visit) {
  if (type == DART_BF16) return visit(static_cast<Bf16 *>(nullptr));
  if (type == DART_F16) return visit(static_cast<Half *>(nullptr));
  return visit(static_cast<float *>(nullptr));
}

}  // namespace dart

#endif
