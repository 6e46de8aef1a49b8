/* exp on sixteen lanes, and what the loops over a row share. Included after one lanes_*.h. */
#ifndef DART_CPU_VECTOR_EXP_H
#define DART_CPU_VECTOR_EXP_H

#include <cfloat>
#include <cmath>

#include "instructions.h"

namespace dart {
namespace {

constexpr int kLanes = 16;

/* The rest of a row that does not fill the lanes, the others set to `fill`. */
template <typename T>
DART_LANES Lanes load_some(const T *from, int64_t count, float fill) {
  T some[kLanes] = {};
  float wide[kLanes];
  std::memcpy(some, from, static_cast<size_t>(count) * sizeof(T));
  store(load(some), wide);
  for (int64_t k = count; k < kLanes; k++) wide[k] = fill;
  return load(wide);
}

template <typename T>
DART_LANES void store_some(Lanes values, T *to, int64_t count) {
  T some[kLanes];
  store(values, some);
  std::memcpy(to, some, static_cast<size_t>(count) * sizeof(T));
}

/*
 * exp(x) for floor <= x <= 0, within 2 ulp where it matters: x = n ln 2 + r, |r| <= ln 2 / 2, e^r = 1 + r + r^2 q(r) with
 * q of degree 4 (least greatest relative error, 4e-9), times 2^n by way of the exponent's bits. ln 2 is one constant,
 * off by 2e-9: relative error n * 2e-9, so more than rounding only where exp is below 1e-9. exp(kExpFloor) is 0.
 */
constexpr float kExpFloor = -87.9f; /* n = -127, whose exponent bits are 0 */

DART_LANES Lanes exponential(Lanes x) {
  constexpr float kLog2E = 1.44269504f, kLn2 = 0.69314718f, kRound = 12582912.0f; /* 1.5 * 2^23 */
  const Lanes shifted = multiply_add(x, all(kLog2E), all(kRound));
  const Lanes r = subtract_product(x, subtract(shifted, all(kRound)), all(kLn2));
  Lanes p = all(1.381446724e-3f);
  p = multiply_add(p, r, all(8.368780836e-3f));
  p = multiply_add(p, r, all(4.166839272e-2f));
  p = multiply_add(p, r, all(1.666651964e-1f));
  p = multiply_add(p, r, all(4.999999404e-1f));
  p = multiply_add(p, r, all(1.0f));
  p = multiply_add(p, r, all(1.0f));
  return multiply(p, power_of_two(shifted));
}

/*
 * (x - reference) / T, not below kExpFloor: an excluded entry gets exp 0 and a finite distance, so that 0 * d is 0.
 * `unit` is T = 1, the usual one.
 */
template <bool unit>
DART_LANES Lanes distance(Lanes x, Lanes reference, Lanes inverse_temperature) {
  const Lanes d = subtract(x, reference);
  return at_least(unit ? d : multiply(d, inverse_temperature), all(kExpFloor));
}

inline float inverse_of(double temperature) {
  const double inverse = 1.0 / temperature;
  return inverse > FLT_MAX ? FLT_MAX : static_cast<float>(inverse);
}

}  // namespace
}  // namespace dart

#endif
