/* stepEntropy and selectSteps. */
#include "call.h"
#include "operations.h"

namespace dart {

Napi::Value step_entropy(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  auto call = std::make_unique<KernelCall<dart_step_entropy_args>>(in, &Backend::dart_step_entropy);
  dart_step_entropy_args &args = call->args;
  args.steps = in.integer("steps");
  const Span<float> tokens = in.array<float>("tokenEntropy");
  call->in(args.token_entropy, tokens);
  call->in(args.mask, in.optional_array<uint8_t>("mask", tokens.size));
  call->in(args.step_offsets, in.array<int32_t>("stepOffsets", args.steps + 1));
  call->out(args.step_entropy, in.array<double>("result", args.steps));
  return perform(in, std::move(call));
}

Napi::Value select_steps(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  auto call = std::make_unique<KernelCall<dart_select_steps_args>>(in, &Backend::dart_select_steps);
  dart_select_steps_args &args = call->args;
  args.steps = in.integer("steps");
  args.groups = in.integer("groups");
  args.keep = in.number("keep");
  call->in(args.step_entropy, in.array<double>("stepEntropy", args.steps));
  call->in(args.step_group, in.array<int32_t>("stepGroup", args.steps));
  call->out(args.threshold, in.array<double>("threshold", args.groups));
  call->out(args.selected, in.array<uint8_t>("selected", args.steps));
  return perform(in, std::move(call));
}

}  // namespace dart
