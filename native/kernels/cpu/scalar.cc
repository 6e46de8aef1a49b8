/*
 * The reference: plain loops, exp of the C library, sums in double. What the vector versions are held to, and what runs
 * where there are none.
 */
#include <cfloat>

#include "instructions.h"
#include "types.h"

namespace dart {
namespace {

template <typename T>
RowSums row_sums(const T *logits, const Row &row) {
  float maximum = -FLT_MAX; /* finite, so that -inf stays -inf when it is taken off */
  for (int64_t j = 0; j < row.vocabulary; j++) maximum = to_float(logits[j]) > maximum ? to_float(logits[j]) : maximum;
  double sum = 0, weighted = 0;
  for (int64_t j = 0; j < row.vocabulary; j++) {
    const double d = (static_cast<double>(to_float(logits[j])) - maximum) / row.temperature;
    if (d == -INFINITY) continue; /* no mass */
    sum += std::exp(d);
    weighted += std::exp(d) * d;
  }
  return finish_sums(maximum, row.target < 0 ? -INFINITY : to_float(logits[row.target]), sum, weighted);
}

template <typename T, typename D>
void gradient(const T *logits, D *dlogits, const Row &row, const RowSums &sums, const RowGradient &gradient) {
  const double log_sum = std::log(sums.sum), entropy = sums.statistics.entropy;
  const double target = row.target < 0 ? 0 : target_gradient(row, sums, gradient);
  for (int64_t j = 0; j < row.vocabulary; j++) {
    const double logp = (static_cast<double>(to_float(logits[j])) - sums.statistics.maximum) / row.temperature - log_sum;
    const double p = std::exp(logp);
    const double slope = logp == -INFINITY ? 0 : p * (gradient.d_logp + gradient.d_entropy * (logp + entropy));
    from_float(static_cast<float>(j == row.target ? target : 0.0 - slope / row.temperature), dlogits + j);
  }
}

template <typename T>
double sum_of_squares(const T *values, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t i = begin; i < end; i++) sum += static_cast<double>(to_float(values[i])) * to_float(values[i]);
  return sum;
}

template <typename P, typename G>
void adamw(P *parameter, const G *gradient, const AdamwSlice &slice, const AdamwStep &step) {
  const dart_adamw_args &args = *slice.args;
  for (int64_t i = slice.begin; i < slice.end; i++) {
    float weight = args.master != nullptr ? args.master[i] : to_float(parameter[i]);
    adamw_update(weight, to_float(gradient[i]), args.first_moment[i], args.second_moment[i], step);
    if (args.master != nullptr) args.master[i] = weight;
    from_float(weight, parameter + i);
  }
}

}  // namespace

const Instructions kScalar = {
    "scalar",
    "no vector instructions",
    [] { return true; },
    [](const Row &row, const Kept &) {
      return with_type(row.type, [&]<typename T>(T *) { return row_sums(static_cast<const T *>(row.logits), row); });
    },
    [](const Row &row, const RowSums &sums, const RowGradient &to) {
      with_type(row.type, [&]<typename T>(T *) {
        with_type(to.type, [&]<typename D>(D *) { gradient(static_cast<const T *>(row.logits), static_cast<D *>(to.dlogits), row, sums, to); });
      });
    },
    nullptr,
    [](const void *values, int32_t type, int64_t begin, int64_t end) {
      return with_type(type, [&]<typename T>(T *) { return sum_of_squares(static_cast<const T *>(values), begin, end); });
    },
    [](const AdamwSlice &slice, const AdamwStep &step) {
      const dart_adamw_args &args = *slice.args;
      with_type(args.gradient_type, [&]<typename G>(G *) {
        const G *from = static_cast<const G *>(args.gradient);
        if (args.parameter_type == DART_BF16) adamw(static_cast<Bf16 *>(args.parameter), from, slice, step);
        if (args.parameter_type == DART_F32) adamw(static_cast<float *>(args.parameter), from, slice, step);
      });
    },
};

}  // namespace dart
