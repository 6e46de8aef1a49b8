/* Quantile by linear interpolation between order statistics, as numpy and torch define it. */
#ifndef DART_QUANTILE_H
#define DART_QUANTILE_H

#include "policy_math.h"

namespace dart {

struct QuantilePlace {
  int64_t below;
  int64_t above;
  double fraction;
};

/* The two order statistics (from 0) between which the q-quantile of n values lies. */
DART_SHARED_CODE QuantilePlace quantile_place(int64_t n, double q) {
  const double place = q * (double)(n > 0 ? n - 1 : 0);
  const int64_t below = (int64_t)place;
  return {below, below + 1 < n ? below + 1 : below, place - (double)below};
}

/* From the nearer end, so that rounding never passes an end: a tie with it is kept. */
DART_SHARED_CODE double interpolate(double a, double b, double fraction) {
  return fraction < 0.5 ? a + fraction * (b - a) : b - (b - a) * (1.0 - fraction);
}

}  // namespace dart

#endif
