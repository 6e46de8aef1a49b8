/* policyLoss and logpEntropy: JavaScript arguments to one plain struct, one kernel call. */
#include "call.h"
#include "operations.h"

namespace dart {
namespace {

/* Elements that rows of the given stride take, without what follows the last one. */
int64_t extent(int64_t rows, int64_t vocabulary, int64_t stride) { return rows == 0 ? 0 : (rows - 1) * stride + vocabulary; }

void read_options(const Arguments &in, dart_policy_loss_args &args) {
  args.temperature = in.number("temperature");
  args.clip_low = in.number("clipLow");
  args.clip_high = in.number("clipHigh");
  args.dual_clip = in.number("dualClip");
  args.tis_cap = in.number("tisCap");
  args.kl_beta = in.number("klBeta");
  args.entropy_coefficient = in.number("entropyCoefficient");
  args.loss = in.choice("loss");
  args.tis_level = in.choice("tisLevel");
  args.tis_mode = in.choice("tisMode");
  args.kl = in.choice("klEstimator");
}

}  // namespace

Napi::Value policy_loss(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  auto call = std::make_unique<KernelCall<dart_policy_loss_args>>(in, &Backend::dart_policy_loss);
  dart_policy_loss_args &args = call->args;
  const int64_t rows = args.rows = in.integer("rows");
  args.vocabulary = in.integer("vocabulary");
  args.logits_stride = args.dlogits_stride = in.integer("stride");
  read_options(in, args);

  const int64_t least = extent(rows, args.vocabulary, args.logits_stride);
  const int32_t half = in.choice("half");
  const Values logits = in.at_least("logits", least, half), dlogits = in.optional_at_least("dlogits", least, half);
  args.logits_type = logits.type;
  args.dlogits_type = dlogits.type;
  call->in(args.logits, logits);
  call->in_out(args.dlogits, dlogits); /* in too: columns beyond the vocabulary keep what they hold */

  call->in(args.target, in.array<int32_t>("target", rows));
  call->in(args.mask, in.optional_array<uint8_t>("mask", rows));
  call->in(args.scale, in.array<float>("scale", rows));
  call->in(args.advantage, in.optional_array<float>("advantage", rows));
  call->in(args.old_logp, in.optional_array<float>("oldLogp", rows));
  call->in(args.rollout_logp, in.optional_array<float>("rolloutLogp", rows));
  call->in(args.ref_logp, in.optional_array<float>("refLogp", rows));
  args.sequences = in.integer("sequences");
  call->in(args.sequence_offsets, in.optional_array<int32_t>("sequenceOffsets", args.sequences + 1));

  call->out(args.logp, in.array<float>("logp", rows));
  call->out(args.entropy, in.array<float>("entropy", rows));
  call->out(args.ratio, in.array<float>("ratio", rows));
  call->out(args.weight, in.array<float>("weight", rows));
  call->out(args.token_loss, in.array<float>("tokenLoss", rows));
  constexpr int64_t fields = sizeof(dart_policy_statistics) / sizeof(double);
  const Span<double> statistics = in.array<double>("statistics", fields);
  call->out(args.statistics, Span<dart_policy_statistics>{reinterpret_cast<dart_policy_statistics *>(statistics.data), 1});
  call->workspace(args.workspace, &Backend::dart_policy_loss_workspace, rows);
  return perform(in, std::move(call));
}

Napi::Value logp_entropy(const Napi::CallbackInfo &info) {
  const Arguments in(info);
  auto call = std::make_unique<KernelCall<dart_logp_entropy_args>>(in, &Backend::dart_logp_entropy);
  dart_logp_entropy_args &args = call->args;
  const int64_t rows = args.rows = in.integer("rows");
  args.vocabulary = in.integer("vocabulary");
  args.logits_stride = in.integer("stride");
  args.temperature = in.number("temperature");
  const Values logits = in.at_least("logits", extent(rows, args.vocabulary, args.logits_stride), in.choice("half"));
  args.logits_type = logits.type;
  call->in(args.logits, logits);
  call->in(args.target, in.array<int32_t>("target", rows));
  call->out(args.logp, in.array<float>("logp", rows));
  call->out(args.entropy, in.array<float>("entropy", rows));
  return perform(in, std::move(call));
}

}  // namespace dart
