/* One row of logits: its statistics, and its gradient. T is float or uint16_t (bf16). */
#ifndef DART_CPU_ROWS_H
#define DART_CPU_ROWS_H

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../policy_math.h"
#include "vector.h"

namespace dart {

inline void load(const float *from, float *to, int n) { std::memcpy(to, from, n * sizeof(float)); }
inline void load(const uint16_t *from, float *to, int n) { block_from_bf16(from, to, n); }
inline void store(const float *from, float *to, int n) { std::memcpy(to, from, n * sizeof(float)); }
inline void store(const float *from, uint16_t *to, int n) { block_to_bf16(from, to, n); }

/* Calls visit(block, count, offset) for each block of the row; count is the real length, padded with -inf to whole lanes. */
template <typename T, typename Visit>
void for_each_block(const T *row, int64_t size, Visit visit) {
  alignas(64) float block[kBlock];
  for (int64_t offset = 0; offset < size; offset += kBlock) {
    const int count = static_cast<int>(std::min<int64_t>(kBlock, size - offset));
    load(row + offset, block, count);
    const int padded = (count + kLanes - 1) / kLanes * kLanes;
    std::fill(block + count, block + padded, -INFINITY);
    visit(block, count, padded, offset);
  }
}

template <typename T>
float element(const T *row, int64_t index) {
  alignas(64) float value[1];
  load(row + index, value, 1);
  return value[0];
}

/* Two passes over a row that fits the cache: the maximum, then the sums. A row without any mass: log_sum -inf, entropy 0. */
template <typename T>
RowStatistics row_statistics(const T *row, int64_t vocabulary, int32_t target, double temperature) {
  RowStatistics out;
  out.target = target < 0 ? -INFINITY : element(row, target);
  out.maximum = -INFINITY;
  for_each_block(row, vocabulary, [&](const float *block, int, int padded, int64_t) {
    out.maximum = std::max(out.maximum, block_maximum(block, padded));
  });
  double sum = 0, weighted = 0;
  if (out.maximum == -INFINITY) {
    out.log_sum = -INFINITY;
    out.entropy = 0;
    return out;
  }
  const float inverse = static_cast<float>(1.0 / temperature);
  for_each_block(row, vocabulary, [&](const float *block, int, int padded, int64_t) {
    block_sums(block, padded, out.maximum, inverse, &sum, &weighted);
  });
  out.log_sum = static_cast<float>(std::log(sum));
  out.entropy = static_cast<float>(std::log(sum) - weighted / sum);
  return out;
}

/* dlogits_j = [g (delta_jy - p_j) - h p_j (ln p_j + H)] / T, with g = dL/dlogp and h = dL/dH, both times the scale. */
template <typename T, typename D>
void row_gradient(const T *row, D *gradient, int64_t vocabulary, int32_t target, double temperature, const RowStatistics &statistics,
                  double d_logp, double d_entropy) {
  const GradientRow terms = {
      statistics.maximum,
      static_cast<float>(1.0 / temperature),
      static_cast<float>(std::exp(-static_cast<double>(statistics.log_sum))),
      statistics.log_sum,
      statistics.entropy,
      static_cast<float>(d_logp / temperature),
      static_cast<float>(d_entropy / temperature),
  };
  for_each_block(row, vocabulary, [&](float *block, int count, int padded, int64_t offset) {
    block_gradient(block, padded, terms);
    if (target >= offset && target < offset + count) block[target - offset] += terms.a;
    store(block, gradient + offset, count);
  });
}

}  // namespace dart

#endif
