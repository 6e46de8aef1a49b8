/*
 * Maximum, sum of exponentials and entropy of a row in one visit: each block of kKeptBlock is looked at twice while it
 * is in the first cache, once for its maximum and once for its exponentials relative to the greatest logit so far.
 */
#ifndef DART_CPU_VECTOR_SUMS_H
#define DART_CPU_VECTOR_SUMS_H

#include "vector_exp.h"

namespace dart {
namespace {

/* Greatest of a block and `least`. NaN is passed over: it shows in the sums. */
template <typename T>
DART_LANES float block_maximum(const T *x, int64_t count, float least) {
  Lanes first = all(least), second = first, third = first, fourth = first;
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    first = greater(load(x + i), first);
    second = greater(load(x + i + kLanes), second);
    third = greater(load(x + i + 2 * kLanes), third);
    fourth = greater(load(x + i + 3 * kLanes), fourth);
  }
  for (; i + kLanes <= count; i += kLanes) first = greater(load(x + i), first);
  if (i < count) second = greater(load_some(x + i, count - i, least), second);
  return greatest_of(greater(greater(first, second), greater(third, fourth)));
}

/* Two sets of partial sums, so that one addition need not wait for the other. */
struct BlockSums {
  Lanes sum[2], weighted[2];
};

template <bool keep, bool unit>
DART_LANES void add_exponentials(Lanes x, Lanes reference, Lanes inverse, Lanes &sum, Lanes &weighted, float *exponentials) {
  const Lanes d = distance<unit>(x, reference, inverse);
  const Lanes e = exponential(d);
  sum = add(sum, e);
  weighted = multiply_add(e, d, weighted);
  if constexpr (keep) store(e, exponentials);
}

template <bool keep, bool unit, typename T>
DART_LANES void block_exponentials(const T *x, int64_t count, float maximum, float inverse_temperature, float *exponentials, const T *next,
                                   double *sum, double *weighted) {
  const Lanes reference = all(maximum), inverse = all(inverse_temperature), zero = all(0.0f);
  BlockSums sums = {{zero, zero}, {zero, zero}};
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    if (next != nullptr) {
      fetch(next + i);
      if constexpr (sizeof(T) == 4) fetch(next + i + kLanes);
    }
    add_exponentials<keep, unit>(load(x + i), reference, inverse, sums.sum[0], sums.weighted[0], exponentials + i);
    add_exponentials<keep, unit>(load(x + i + kLanes), reference, inverse, sums.sum[1], sums.weighted[1], exponentials + i + kLanes);
  }
  for (; i < count; i += kLanes) {
    const int64_t rest = count - i < kLanes ? count - i : kLanes;
    float some[kLanes];
    add_exponentials<keep, unit>(rest < kLanes ? load_some(x + i, rest, -INFINITY) : load(x + i), reference, inverse, sums.sum[0], sums.weighted[0], some);
    if constexpr (keep) std::memcpy(exponentials + i, some, static_cast<size_t>(rest) * sizeof(float));
  }
  *sum += sum_of(add(sums.sum[0], sums.sum[1]));
  *weighted += sum_of(add(sums.weighted[0], sums.weighted[1]));
}

template <bool keep, bool unit, typename T>
RowSums row_sums(const Row &row, const Kept &kept) {
  const T *logits = static_cast<const T *>(row.logits), *next = static_cast<const T *>(row.next);
  const float inverse = inverse_of(row.temperature), target = row.target < 0 ? -INFINITY : to_float(logits[row.target]);
  float maximum = -FLT_MAX; /* finite, so that -inf stays -inf when it is taken off */
  double sum = 0, weighted = 0;
  for (int64_t begin = 0; begin < row.vocabulary; begin += kKeptBlock) {
    const int64_t count = row.vocabulary - begin < kKeptBlock ? row.vocabulary - begin : kKeptBlock;
    const float greatest = block_maximum(logits + begin, count, maximum);
    if (begin > 0 && greatest > maximum) { /* what was summed so far is relative to a smaller one */
      const double down = (static_cast<double>(maximum) - greatest) * inverse, factor = std::exp(down);
      weighted = factor * (weighted + sum * down);
      sum *= factor;
    }
    maximum = greatest;
    block_exponentials<keep, unit>(logits + begin, count, maximum, inverse, keep ? kept.exponentials + begin : nullptr,
                             next == nullptr ? nullptr : next + begin, &sum, &weighted);
    if constexpr (keep) kept.references[begin / kKeptBlock] = maximum;
  }
  return finish_sums(maximum, target, sum, weighted);
}

template <bool unit>
RowSums row_sums_at(const Row &row, const Kept &kept) {
  return with_type(row.type, [&]<typename T>(T *) {
    return kept.exponentials != nullptr ? row_sums<true, unit, T>(row, kept) : row_sums<false, unit, T>(row, kept);
  });
}

RowSums row_sums(const Row &row, const Kept &kept) { return row.temperature == 1 ? row_sums_at<true>(row, kept) : row_sums_at<false>(row, kept); }

}  // namespace
}  // namespace dart

#endif
