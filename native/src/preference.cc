/* dpo and kto: slopes of the preference losses by the sequences' log-probabilities. */
#include "operations.h"
#include "staging.h"

namespace dart {

Napi::Value dpo(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_dpo_args args{};
  const Span<double> chosen = in.array<double>("policyChosen");
  args.pairs = chosen.size;
  args.policy_chosen = staging.in(chosen);
  args.policy_rejected = staging.in(in.array<double>("policyRejected", args.pairs));
  args.ref_chosen = staging.in(in.array<double>("refChosen", args.pairs));
  args.ref_rejected = staging.in(in.array<double>("refRejected", args.pairs));
  args.beta = in.number("beta");
  args.loss = staging.out(in.array<double>("loss", 1));
  args.d_policy_chosen = staging.out(in.array<double>("dPolicyChosen", args.pairs));
  args.d_policy_rejected = staging.out(in.array<double>("dPolicyRejected", args.pairs));
  staging.finish(staging.backend().dart_dpo(&args));
  return info.Env().Undefined();
}

Napi::Value kto(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_kto_args args{};
  const Span<double> policy = in.array<double>("policy");
  args.sequences = policy.size;
  args.policy = staging.in(policy);
  args.ref = staging.in(in.array<double>("ref", args.sequences));
  args.desirable = staging.in(in.array<uint8_t>("desirable", args.sequences));
  args.beta = in.number("beta");
  args.reference_point = in.number("referencePoint");
  args.desirable_weight = in.number("desirableWeight");
  args.undesirable_weight = in.number("undesirableWeight");
  args.loss = staging.out(in.array<double>("loss", 1));
  args.d_policy = staging.out(in.array<double>("dPolicy", args.sequences));
  staging.finish(staging.backend().dart_kto(&args));
  return info.Env().Undefined();
}

}  // namespace dart
