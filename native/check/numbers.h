/* Random numbers that a seed repeats on every machine, and the floating types that C++17 lacks. */
#ifndef DART_CHECK_NUMBERS_H
#define DART_CHECK_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../kernels/dart_kernels.h"

namespace check {

/* splitmix64 (Steele et al. 2014). */
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /* In [0, 1). */
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }
  /* In [low, high]. */
  int64_t integer(int64_t low, int64_t high) { return low + static_cast<int64_t>(uniform() * static_cast<double>(high - low + 1)); }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform()); }

 private:
  uint64_t state_;
};

inline int64_t bytes_of(int32_t type) { return type == DART_F32 ? 4 : 2; }
inline const char *name_of(int32_t type) { return type == DART_F32 ? "f32" : type == DART_BF16 ? "bf16" : "f16"; }

/*
 * The nearest number with `digits` binary digits whose smallest normal is 2^least, ties to even; infinite above `most`.
 */
inline double rounded(double value, int digits, int least, double most) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent;
  std::frexp(value, &exponent); /* |value| in [2^(exponent - 1), 2^exponent) */
  const int unit = (exponent - 1 < least ? least : exponent - 1) - (digits - 1);
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::fabs(nearest) > most ? std::copysign(INFINITY, value) : nearest;
}

/* What a number becomes when it is stored in the type. */
inline double stored(double value, int32_t type) {
  if (type == DART_BF16) return rounded(value, 8, -126, 0x1.fep127);
  if (type == DART_F16) return rounded(value, 11, -14, 65504);
  return static_cast<double>(static_cast<float>(value));
}

/* The bits of a number that the type can hold. */
inline uint32_t encode(double value, int32_t type) {
  if (type != DART_F16) {
    const float single = static_cast<float>(stored(value, type));
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    return type == DART_F32 ? bits : std::isnan(value) ? 0x7fc0 : bits >> 16;
  }
  const uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7e00;
  const double size = std::fabs(stored(value, type));
  if (std::isinf(size)) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | static_cast<uint32_t>(size * 0x1p24);
  int exponent;
  const double fraction = std::frexp(size, &exponent);
  return sign | (static_cast<uint32_t>(exponent + 14) << 10) | static_cast<uint32_t>((fraction * 2 - 1) * 1024);
}

inline double decode(uint32_t bits, int32_t type) {
  if (type != DART_F16) {
    const uint32_t wide = type == DART_F32 ? bits : bits << 16;
    float single;
    std::memcpy(&single, &wide, sizeof single);
    return single;
  }
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 1023;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : std::numeric_limits<double>::quiet_NaN();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

inline void put(unsigned char *memory, int64_t index, double value, int32_t type) {
  const uint32_t bits = encode(value, type);
  std::memcpy(memory + index * bytes_of(type), &bits, bytes_of(type)); /* little-endian, as every machine here */
}

inline double fetch(const unsigned char *memory, int64_t index, int32_t type) {
  uint32_t bits = 0;
  std::memcpy(&bits, memory + index * bytes_of(type), bytes_of(type));
  return decode(bits, type);
}

}  // namespace check

#endif
