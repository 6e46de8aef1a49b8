/* gradientNorm and adamw, each over one flat array; native/optimizer.ts makes a list of tensors of it. */
#include "operations.h"
#include "staging.h"

namespace dart {

/* Adds to totals[0] the sum of squares and to totals[1] the number of entries that are not finite. */
Napi::Value gradient_norm(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_gradient_norm_args args{};
  const Span<float> gradient = in.array<float>("gradient");
  args.size = gradient.size;
  args.gradient = staging.in(gradient);
  double *totals = staging.in_out(in.array<double>("totals", 2));
  args.sum_of_squares = totals;
  args.nonfinite = totals + 1;
  args.workspace = staging.scratch(staging.backend().dart_gradient_norm_workspace(args.size));
  staging.finish(staging.backend().dart_gradient_norm(&args));
  return info.Env().Undefined();
}

Napi::Value adamw(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_adamw_args args{};
  const Span<float> parameter = in.array<float>("parameter");
  args.size = parameter.size;
  args.parameter = staging.in_out(parameter);
  args.gradient = staging.in(in.array<float>("gradient", args.size));
  args.first_moment = staging.in_out(in.array<float>("firstMoment", args.size));
  args.second_moment = staging.in_out(in.array<float>("secondMoment", args.size));
  args.step = in.integer("step");
  args.learning_rate = in.number("learningRate");
  args.beta1 = in.number("beta1");
  args.beta2 = in.number("beta2");
  args.epsilon = in.number("epsilon");
  args.weight_decay = in.number("weightDecay");
  args.gradient_scale = in.number("gradientScale");
  staging.finish(staging.backend().dart_adamw(&args));
  return info.Env().Undefined();
}

}  // namespace dart
