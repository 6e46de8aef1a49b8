/* stepEntropy and selectSteps. */
#include "operations.h"
#include "staging.h"

namespace dart {

Napi::Value step_entropy(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_step_entropy_args args{};
  args.steps = in.integer("steps");
  const Span<float> tokens = in.array<float>("tokenEntropy");
  args.token_entropy = staging.in(tokens);
  args.mask = staging.in(in.optional_array<uint8_t>("mask", tokens.size));
  args.step_offsets = staging.in(in.array<int32_t>("stepOffsets", args.steps + 1));
  args.step_entropy = staging.out(in.array<double>("stepEntropy", args.steps));
  staging.finish(staging.backend().dart_step_entropy(&args));
  return info.Env().Undefined();
}

Napi::Value select_steps(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_select_steps_args args{};
  args.steps = in.integer("steps");
  args.groups = in.integer("groups");
  args.keep = in.number("keep");
  args.step_entropy = staging.in(in.array<double>("stepEntropy", args.steps));
  args.step_group = staging.in(in.array<int32_t>("stepGroup", args.steps));
  args.threshold = staging.out(in.array<double>("threshold", args.groups));
  args.selected = staging.out(in.array<uint8_t>("selected", args.steps));
  staging.finish(staging.backend().dart_select_steps(&args));
  return info.Env().Undefined();
}

}  // namespace dart
