/* The gradient of a row, from its logits or from the exponentials that row_sums kept. */
#ifndef DART_CPU_VECTOR_GRADIENT_H
#define DART_CPU_VECTOR_GRADIENT_H

#include "vector_exp.h"

namespace dart {
namespace {

/* -p (a + b (d + offset)), p = e / sum: 0 - 0 is 0, so that no entry is -0. */
struct GradientTerms {
  Lanes reference, inverse, inverse_sum, a, b, offset;
};

DART_LANES Lanes gradient_of(Lanes x, const GradientTerms &terms) {
  const Lanes d = distance<false>(x, terms.reference, terms.inverse);
  const Lanes p = multiply(exponential(d), terms.inverse_sum);
  return subtract_product(all(0.0f), p, multiply_add(terms.b, add(d, terms.offset), terms.a));
}

template <typename T, typename D>
void gradient_from_logits(const Row &row, const RowSums &sums, const RowGradient &gradient) {
  const T *logits = static_cast<const T *>(row.logits);
  D *dlogits = static_cast<D *>(gradient.dlogits);
  const double own = row.target < 0 ? 0 : target_gradient(row, sums, gradient);
  const GradientTerms terms = {
      all(sums.statistics.maximum),
      all(inverse_of(row.temperature)),
      all(static_cast<float>(1.0 / sums.sum)),
      all(static_cast<float>(gradient.d_logp / row.temperature)),
      all(static_cast<float>(gradient.d_entropy / row.temperature)),
      all(sums.statistics.entropy - sums.statistics.log_sum),
  };
  int64_t i = 0;
  for (; i + kLanes <= row.vocabulary; i += kLanes) store(gradient_of(load(logits + i), terms), dlogits + i);
  if (const int64_t rest = row.vocabulary - i; rest > 0)
    store_some(gradient_of(load_some(logits + i, rest, -INFINITY), terms), dlogits + i, rest);
  if (row.target >= 0) from_float(static_cast<float>(own), dlogits + row.target);
}

template <typename D>
DART_LANES void scale_block(const float *exponentials, D *dlogits, int64_t count, float factor) {
  const Lanes zero = all(0.0f), times = all(factor);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(subtract_product(zero, load(exponentials + i), times), dlogits + i);
  if (const int64_t rest = count - i; rest > 0)
    store_some(subtract_product(zero, load_some(exponentials + i, rest, 0.0f), times), dlogits + i, rest);
}

/* The same around the caches, from the first multiple of 64 bytes on. */
DART_LANES void scale_block_around(const float *exponentials, float *dlogits, int64_t count, float factor) {
  const int64_t first = static_cast<int64_t>((64 - reinterpret_cast<uintptr_t>(dlogits) % 64) % 64 / sizeof(float));
  const int64_t head = first < count ? first : count, whole = (count - head) / kLanes * kLanes;
  const Lanes zero = all(0.0f), times = all(factor);
  scale_block(exponentials, dlogits, head, factor);
  for (int64_t i = head; i < head + whole; i += kLanes) store_around(subtract_product(zero, load(exponentials + i), times), dlogits + i);
  scale_block(exponentials + head + whole, dlogits + head + whole, count - head - whole, factor);
}

template <typename D>
void gradient_from_kept(const Row &row, const RowSums &sums, const RowGradient &gradient, const Kept &kept) {
  D *dlogits = static_cast<D *>(gradient.dlogits);
  const double own = row.target < 0 ? 0 : target_gradient(row, sums, gradient);
  for (int64_t begin = 0; begin < row.vocabulary; begin += kKeptBlock) {
    const int64_t count = row.vocabulary - begin < kKeptBlock ? row.vocabulary - begin : kKeptBlock;
    const double late = (static_cast<double>(kept.references[begin / kKeptBlock]) - sums.statistics.maximum) / row.temperature;
    const float factor = static_cast<float>(gradient.d_logp / (row.temperature * sums.sum) * (late == 0 ? 1.0 : std::exp(late)));
    if constexpr (sizeof(D) == 4) {
      if (gradient.stream) {
        scale_block_around(kept.exponentials + begin, dlogits + begin, count, factor);
        continue;
      }
    }
    scale_block(kept.exponentials + begin, dlogits + begin, count, factor);
  }
  if (gradient.stream) settle();
  if (row.target >= 0) from_float(static_cast<float>(own), dlogits + row.target);
}

void gradient(const Row &row, const RowSums &sums, const RowGradient &to) {
  with_type(row.type, [&]<typename T>(T *) { with_type(to.type, [&]<typename D>(D *) { gradient_from_logits<T, D>(row, sums, to); }); });
}

void gradient_from_kept(const Row &row, const RowSums &sums, const RowGradient &to, const Kept &kept) {
  with_type(to.type, [&]<typename D>(D *) { gradient_from_kept<D>(row, sums, to, kept); });
}

}  // namespace
}  // namespace dart

#endif
