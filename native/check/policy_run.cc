#include "policy_run.h"

#include <memory>

namespace check {
namespace {

constexpr unsigned char kGap = 0x77;

template <typename T>
std::unique_ptr<Array<T>> upload(const Library &library, const std::vector<T> &values) {
  return values.empty() ? nullptr : std::make_unique<Array<T>>(library, values);
}

template <typename T>
T *pointer(const std::unique_ptr<Array<T>> &array) {
  return array == nullptr ? nullptr : array->get();
}

/* The V numbers of each row, and whether the gaps between rows are as they were. */
std::vector<double> matrix_numbers(const std::vector<unsigned char> &bytes, const PolicyInputs &in, int64_t stride, int32_t type, bool *gaps_kept) {
  std::vector<double> values(in.rows * in.vocabulary);
  for (int64_t t = 0; t < in.rows; t++) {
    for (int64_t j = 0; j < in.vocabulary; j++) values[t * in.vocabulary + j] = fetch(bytes.data(), t * stride + j, type);
    for (int64_t b = (t * stride + in.vocabulary) * bytes_of(type); b < (t + 1) * stride * bytes_of(type); b++)
      if (bytes[b] != kGap) *gaps_kept = false;
  }
  return values;
}

}  // namespace

std::vector<unsigned char> matrix_bytes(const std::vector<double> &values, int64_t vocabulary, int64_t stride, int32_t type) {
  const int64_t rows = static_cast<int64_t>(values.size()) / vocabulary;
  std::vector<unsigned char> bytes(rows * stride * bytes_of(type), kGap);
  for (int64_t t = 0; t < rows; t++)
    for (int64_t j = 0; j < vocabulary; j++) put(bytes.data(), t * stride + j, values[t * vocabulary + j], type);
  return bytes;
}

PolicyResult run_policy_loss(const Library &library, const PolicyCase &one, const PolicyInputs &in) {
  const bool apart = one.output == Output::separate;
  const int32_t out_type = apart ? one.dlogits_type : one.logits_type;
  const int64_t stride = in.vocabulary + one.gap, out_stride = apart ? in.vocabulary + 2 * one.gap : stride;
  const std::vector<unsigned char> start = matrix_bytes(in.logits, in.vocabulary, stride, one.logits_type);
  Array<unsigned char> logits(library, start, one.shift * bytes_of(one.logits_type));
  const std::vector<double> poison(in.rows * in.vocabulary, NAN);
  std::vector<unsigned char> blank = matrix_bytes(apart ? poison : std::vector<double>(), in.vocabulary, out_stride, out_type);
  Array<unsigned char> own(library, blank, 3 * one.shift * bytes_of(out_type));

  const auto target = upload(library, in.target);
  const auto mask = upload(library, in.mask);
  const auto scale = upload(library, in.scale), advantage = upload(library, in.advantage), old_logp = upload(library, in.old_logp);
  const auto rollout = upload(library, in.rollout_logp), reference = upload(library, in.ref_logp);
  const auto offsets = upload(library, in.offsets);
  Array<float> logp(library, in.rows), entropy(library, in.rows), ratio(library, in.rows), weight(library, in.rows), loss(library, in.rows);
  Array<dart_policy_statistics> statistics(library, 1);
  Array<unsigned char> workspace(library, library.dart_policy_loss_workspace(in.rows));

  const PolicyOptions &o = in.options;
  dart_policy_loss_args args{};
  args.rows = in.rows, args.vocabulary = in.vocabulary;
  args.logits = logits.get(), args.logits_stride = stride, args.logits_type = one.logits_type;
  args.dlogits = one.output == Output::none ? nullptr : apart ? own.get() : logits.get();
  args.dlogits_stride = out_stride, args.dlogits_type = out_type;
  args.target = pointer(target), args.mask = pointer(mask), args.scale = pointer(scale), args.advantage = pointer(advantage);
  args.old_logp = pointer(old_logp), args.rollout_logp = pointer(rollout), args.ref_logp = pointer(reference);
  args.sequences = static_cast<int64_t>(in.offsets.size()) - 1, args.sequence_offsets = pointer(offsets);
  args.temperature = o.temperature, args.clip_low = o.clip_low, args.clip_high = o.clip_high, args.dual_clip = o.dual_clip;
  args.tis_cap = o.tis_cap, args.tis_level = o.tis_level, args.tis_mode = o.tis_mode;
  args.kl_beta = o.kl_beta, args.kl = o.kl, args.entropy_coefficient = o.entropy_coefficient, args.loss = o.loss;
  args.logp = logp.get(), args.entropy = entropy.get(), args.ratio = ratio.get(), args.weight = weight.get(), args.token_loss = loss.get();
  args.statistics = statistics.get(), args.workspace = workspace.get();
  require(library, library.dart_policy_loss(&args), "dart_policy_loss");
  require(library, library.dart_device_synchronize(), "dart_device_synchronize");

  PolicyResult out;
  out.logp = logp.read(), out.entropy = entropy.read(), out.ratio = ratio.read(), out.weight = weight.read(), out.token_loss = loss.read();
  out.statistics = statistics.read()[0];
  for (const auto *array : {&logp, &entropy, &ratio, &weight, &loss}) out.guarded = out.guarded && array->guarded();
  out.guarded = out.guarded && logits.guarded() && own.guarded() && statistics.guarded() && workspace.guarded();
  if (one.output != Output::in_place) out.logits_kept = logits.read() == start;
  if (one.output == Output::none) return out;
  out.bytes = apart ? own.read() : logits.read();
  out.dlogits = matrix_numbers(out.bytes, in, out_stride, out_type, &out.guarded);
  return out;
}

}  // namespace check
