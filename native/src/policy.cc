/* policyLoss and logpEntropy: JavaScript arguments to one plain struct, one kernel call. */
#include "operations.h"
#include "staging.h"

namespace dart {

Napi::Value policy_loss(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_policy_loss_args args{};
  const int64_t rows = args.rows = in.integer("rows");
  args.vocabulary = in.integer("vocabulary");
  args.logits_stride = args.dlogits_stride = in.integer("stride");
  const int64_t least = rows == 0 ? 0 : (rows - 1) * args.logits_stride + args.vocabulary;

  const Matrix logits = in.matrix("logits", least), dlogits = in.optional_matrix("dlogits", least);
  args.dlogits = staging.in_out(dlogits);
  args.logits = staging.in(logits);
  args.logits_type = logits.type;
  args.dlogits_type = dlogits.type;

  args.target = staging.in(in.array<int32_t>("target", rows));
  args.mask = staging.in(in.optional_array<uint8_t>("mask", rows));
  args.scale = staging.in(in.array<float>("scale", rows));
  args.advantage = staging.in(in.optional_array<float>("advantage", rows));
  args.old_logp = staging.in(in.optional_array<float>("oldLogp", rows));
  args.rollout_logp = staging.in(in.optional_array<float>("rolloutLogp", rows));
  args.ref_logp = staging.in(in.optional_array<float>("refLogp", rows));
  args.sequences = in.integer("sequences");
  args.sequence_offsets = staging.in(in.optional_array<int32_t>("sequenceOffsets", args.sequences + 1));

  args.temperature = in.number("temperature");
  args.clip_low = in.number("clipLow");
  args.clip_high = in.number("clipHigh");
  args.dual_clip = in.number("dualClip");
  args.tis_cap = in.number("tisCap");
  args.kl_beta = in.number("klBeta");
  args.entropy_coefficient = in.number("entropyCoefficient");
  args.loss = static_cast<int32_t>(in.integer("loss"));
  args.tis_level = static_cast<int32_t>(in.integer("tisLevel"));
  args.tis_mode = static_cast<int32_t>(in.integer("tisMode"));
  args.kl = static_cast<int32_t>(in.integer("klEstimator"));

  args.logp = staging.out(in.array<float>("logp", rows));
  args.entropy = staging.out(in.array<float>("entropy", rows));
  args.ratio = staging.out(in.array<float>("ratio", rows));
  args.weight = staging.out(in.array<float>("weight", rows));
  args.token_loss = staging.out(in.array<float>("tokenLoss", rows));
  constexpr int64_t fields = sizeof(dart_policy_statistics) / sizeof(double);
  args.statistics = reinterpret_cast<dart_policy_statistics *>(staging.out(in.array<double>("statistics", fields)));
  args.workspace = staging.scratch(staging.backend().dart_policy_loss_workspace(rows));

  staging.finish(staging.backend().dart_policy_loss(&args));
  return info.Env().Undefined();
}

Napi::Value logp_entropy(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  Staging staging(info.Env(), in);
  dart_logp_entropy_args args{};
  const int64_t rows = args.rows = in.integer("rows");
  args.vocabulary = in.integer("vocabulary");
  args.logits_stride = in.integer("stride");
  const Matrix logits = in.matrix("logits", rows == 0 ? 0 : (rows - 1) * args.logits_stride + args.vocabulary);
  args.logits = staging.in(logits);
  args.logits_type = logits.type;
  args.target = staging.in(in.array<int32_t>("target", rows));
  args.temperature = in.number("temperature");
  args.logp = staging.out(in.array<float>("logp", rows));
  args.entropy = staging.out(in.array<float>("entropy", rows));
  staging.finish(staging.backend().dart_logp_entropy(&args));
  return info.Env().Undefined();
}

}  // namespace dart
