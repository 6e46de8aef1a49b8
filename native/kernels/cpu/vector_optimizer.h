/* The loops of the optimiser, over any range of one flat array: an element's result does not depend on where ranges are cut. */
#ifndef DART_CPU_VECTOR_OPTIMIZER_H
#define DART_CPU_VECTOR_OPTIMIZER_H

#include "vector_exp.h"

namespace dart {
namespace {

template <typename T>
double sum_of_squares(const T *values, int64_t begin, int64_t end) {
  DoubleLanes sums = no_doubles();
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) sums = add_squares(sums, load(values + i));
  if (i < end) sums = add_squares(sums, load_some(values + i, end - i, 0.0f));
  double lanes[kLanes], sum = 0;
  store(sums, lanes);
  for (const double lane : lanes) sum += lane;
  return sum;
}

double sum_of_squares(const void *values, int32_t type, int64_t begin, int64_t end) {
  return with_type(type, [&]<typename T>(T *) { return sum_of_squares(static_cast<const T *>(values), begin, end); });
}

/* adamw_update of adamw_math.h, with its sums contracted. */
DART_LANES Lanes update(Lanes weight, Lanes gradient, Lanes &first, Lanes &second, const AdamwStep &step) {
  const Lanes g = multiply(gradient, all(step.gradient_scale));
  first = multiply_add(all(step.beta1), first, multiply(all(step.one_minus_beta1), g));
  second = multiply_add(all(step.beta2), second, multiply(multiply(all(step.one_minus_beta2), g), g));
  const Lanes denominator = multiply_add(square_root(second), all(step.inverse_root_correction), all(step.epsilon));
  return subtract_product(multiply(weight, all(step.decay)), all(step.step_size), divide(first, denominator));
}

/* Sixteen weights, or the last `count`. */
template <bool whole, typename P, typename G>
DART_LANES void update_at(P *parameter, const G *gradient, const dart_adamw_args &args, int64_t i, int64_t count, const AdamwStep &step) {
  const auto read = [&](const auto *from) { return whole ? load(from) : load_some(from, count, 0.0f); };
  const auto write = [&](Lanes values, auto *to) { whole ? store(values, to) : store_some(values, to, count); };
  Lanes first = read(args.first_moment + i), second = read(args.second_moment + i);
  const Lanes before = args.master != nullptr ? read(args.master + i) : read(parameter + i);
  const Lanes after = update(before, read(gradient + i), first, second, step);
  write(first, args.first_moment + i);
  write(second, args.second_moment + i);
  if (args.master != nullptr) write(after, args.master + i);
  write(after, parameter + i);
}

template <typename P, typename G>
void adamw(P *parameter, const G *gradient, const AdamwSlice &slice, const AdamwStep &step) {
  int64_t i = slice.begin;
  for (; i + kLanes <= slice.end; i += kLanes) update_at<true>(parameter, gradient, *slice.args, i, kLanes, step);
  if (i < slice.end) update_at<false>(parameter, gradient, *slice.args, i, slice.end - i, step);
}

void adamw(const AdamwSlice &slice, const AdamwStep &step) {
  const dart_adamw_args &args = *slice.args;
  with_type(args.gradient_type, [&]<typename G>(G *) {
    const G *from = static_cast<const G *>(args.gradient);
    if (args.parameter_type == DART_BF16) adamw(static_cast<Bf16 *>(args.parameter), from, slice, step);
    if (args.parameter_type == DART_F32) adamw(static_cast<float *>(args.parameter), from, slice, step);
  });
}

}  // namespace
}  // namespace dart

#endif
