/* dpo and kto: slopes of the preference losses by the sequences' log-probabilities. */
#include "call.h"
#include "operations.h"

namespace dart {

Napi::Value dpo(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  auto call = std::make_unique<KernelCall<dart_dpo_args>>(in, &Backend::dart_dpo);
  dart_dpo_args &args = call->args;
  const Span<double> chosen = in.array<double>("policyChosen");
  args.pairs = chosen.size;
  args.beta = in.number("beta");
  call->in(args.policy_chosen, chosen);
  call->in(args.policy_rejected, in.array<double>("policyRejected", args.pairs));
  call->in(args.ref_chosen, in.array<double>("refChosen", args.pairs));
  call->in(args.ref_rejected, in.array<double>("refRejected", args.pairs));
  call->out(args.loss, in.array<double>("loss", 1));
  call->out(args.d_policy_chosen, in.array<double>("dPolicyChosen", args.pairs));
  call->out(args.d_policy_rejected, in.array<double>("dPolicyRejected", args.pairs));
  return perform(in, std::move(call));
}

Napi::Value kto(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  auto call = std::make_unique<KernelCall<dart_kto_args>>(in, &Backend::dart_kto);
  dart_kto_args &args = call->args;
  const Span<double> policy = in.array<double>("policy");
  args.sequences = policy.size;
  args.beta = in.number("beta");
  args.reference_point = in.number("referencePoint");
  args.desirable_weight = in.number("desirableWeight");
  args.undesirable_weight = in.number("undesirableWeight");
  call->in(args.policy, policy);
  call->in(args.ref, in.array<double>("ref", args.sequences));
  call->in(args.desirable, in.array<uint8_t>("desirable", args.sequences));
  call->out(args.loss, in.array<double>("loss", 1));
  call->out(args.d_policy, in.array<double>("dPolicy", args.sequences));
  return perform(in, std::move(call));
}

}  // namespace dart
