/*
 * Fused policy loss on the CPU: for each row its log-probability and entropy, then the token's loss, then its dlogits,
 * while the row is still in the cache. A loss that needs a sequence's mean first (GSPO, sequence weights) does the
 * three for a sequence's rows at a time.
 */
#include <vector>

#include "../validate.h"
#include "error.h"
#include "rows.h"

namespace dart {
namespace {

template <typename T>
const T *row_of(const void *matrix, int64_t row, int64_t stride) {
  return static_cast<const T *>(matrix) + row * stride;
}

void write_zeros(const dart_policy_loss_args &args, int64_t row) {
  args.logp[row] = args.entropy[row] = args.ratio[row] = args.weight[row] = args.token_loss[row] = 0;
  if (args.dlogits == nullptr) return;
  const int64_t width = args.dlogits_type == DART_BF16 ? sizeof(uint16_t) : sizeof(float);
  std::memset(static_cast<char *>(args.dlogits) + row * args.dlogits_stride * width, 0, args.vocabulary * width);
}

void write_token(const dart_policy_loss_args &args, int64_t row, const TokenTerms &terms, float entropy) {
  args.logp[row] = static_cast<float>(terms.logp);
  args.entropy[row] = entropy;
  args.ratio[row] = static_cast<float>(terms.ratio);
  args.weight[row] = static_cast<float>(terms.weight);
  args.token_loss[row] = static_cast<float>(terms.loss);
}

/* A row without loss: zeros; an excluded target keeps its -inf, so that a reader sees why. */
void write_unscored(const dart_policy_loss_args &args, int64_t row, RowState state) {
  write_zeros(args, row);
  if (state == RowState::ignored) {
    args.statistics->ignored += 1;
    return;
  }
  args.statistics->excluded += 1;
  args.logp[row] = -INFINITY;
}

template <typename T>
void gradient_of(const dart_policy_loss_args &args, int64_t row, const RowStatistics &statistics, const TokenTerms &terms) {
  if (args.dlogits == nullptr) return;
  const T *logits = row_of<T>(args.logits, row, args.logits_stride);
  const double scale = args.scale[row];
  const auto write = [&](auto *dlogits) {
    row_gradient(logits, dlogits + row * args.dlogits_stride, args.vocabulary, args.target[row], args.temperature, statistics,
                 scale * terms.d_logp, scale * terms.d_entropy);
  };
  if (args.dlogits_type == DART_BF16) write(static_cast<uint16_t *>(args.dlogits));
  if (args.dlogits_type == DART_F32) write(static_cast<float *>(args.dlogits));
}

/* The rows [begin, end): one row, or those of a sequence. `statistics` has room for them. */
template <typename T>
void span_loss(const dart_policy_loss_args &args, int64_t begin, int64_t end, RowStatistics *statistics) {
  SequenceSums sums;
  for (int64_t row = begin; row < end; row++) {
    if (is_ignored(args, row)) continue;
    RowStatistics &own = statistics[row - begin];
    own = row_statistics(row_of<T>(args.logits, row, args.logits_stride), args.vocabulary, args.target[row], args.temperature);
    if (state_of(args, row, own) == RowState::scored) add_to_sequence(sums, args, row, own);
  }
  const SequenceMeans means = sequence_means(sums);
  for (int64_t row = begin; row < end; row++) {
    const RowStatistics &own = statistics[row - begin];
    const RowState state = state_of(args, row, own);
    if (state != RowState::scored) {
      write_unscored(args, row, state);
      continue;
    }
    const TokenTerms terms = token_terms(args, row, own, means);
    write_token(args, row, terms, own.entropy);
    count_token(*args.statistics, terms, args.scale[row], own.entropy);
    gradient_of<T>(args, row, own, terms);
  }
}

template <typename T>
void policy_loss(const dart_policy_loss_args &args) {
  if (!needs_sequences(args)) {
    RowStatistics one{};
    for (int64_t row = 0; row < args.rows; row++) span_loss<T>(args, row, row + 1, &one);
    return;
  }
  std::vector<RowStatistics> statistics;
  for (int64_t sequence = 0; sequence < args.sequences; sequence++) {
    const int64_t begin = args.sequence_offsets[sequence], end = args.sequence_offsets[sequence + 1];
    statistics.assign(end - begin, RowStatistics{});
    span_loss<T>(args, begin, end, statistics.data());
  }
}

}  // namespace
}  // namespace dart

extern "C" int64_t dart_policy_loss_workspace(int64_t) { return 0; }

extern "C" int dart_policy_loss(const dart_policy_loss_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  *args->statistics = dart_policy_statistics{};
  if (args->logits_type == DART_BF16) dart::policy_loss<uint16_t>(*args);
  if (args->logits_type == DART_F32) dart::policy_loss<float>(*args);
  return DART_OK;
}
