/* One AdamW update of one parameter, the same on the CPU and on CUDA. */
#ifndef DART_ADAMW_MATH_H
#define DART_ADAMW_MATH_H

#include "policy_math.h"

namespace dart {

/* The update's constants, made once a call in double. */
struct AdamwStep {
  float gradient_scale;
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float decay;                   /* 1 - lr * weight_decay */
  float step_size;               /* lr / (1 - beta1^t) */
  float inverse_root_correction; /* 1 / sqrt(1 - beta2^t) */
  float epsilon;
};

inline AdamwStep adamw_step(const dart_adamw_args &args) {
  AdamwStep step;
  const double t = (double)args.step;
  step.gradient_scale = (float)args.gradient_scale;
  step.beta1 = (float)args.beta1;
  step.one_minus_beta1 = (float)(1 - args.beta1);
  step.beta2 = (float)args.beta2;
  step.one_minus_beta2 = (float)(1 - args.beta2);
  step.decay = (float)(1 - args.learning_rate * args.weight_decay);
  step.step_size = (float)(args.learning_rate / (1 - std::pow(args.beta1, t)));
  step.inverse_root_correction = (float)(1 / std::sqrt(1 - std::pow(args.beta2, t)));
  step.epsilon = (float)args.epsilon;
  return step;
}

DART_SHARED_CODE void adamw_update(float &parameter, float gradient, float &first, float &second, const AdamwStep &step) {
  const float g = gradient * step.gradient_scale;
  first = step.beta1 * first + step.one_minus_beta1 * g;
  second = step.beta2 * second + step.one_minus_beta2 * g * g;
  const float denominator = sqrtf(second) * step.inverse_root_correction + step.epsilon;
  parameter = parameter * step.decay - step.step_size * (first / denominator);
}

}  // namespace dart

#endif
