/*
 * Fused policy loss on the CPU: for each row its log-probability and entropy, then the token's loss, then its dlogits,
 * while the row is still in the cache. A loss that needs a sequence's mean first (GSPO, sequence weights) visits all rows
 * for their log-probabilities, then all again for their gradients.
 *
 * Rows are shared out among threads. What a row adds to the statistics stays in its own record of the workspace until
 * one thread adds the records up in the order of the rows.
 */
#include <cstring>

#include "../validate.h"
#include "error.h"
#include "instructions.h"
#include "threads.h"
#include "types.h"

namespace dart {
namespace {

/*
 * Separate f32 dlogits of 32 MiB and more go around the caches, which saves reading them from memory before they are
 * overwritten: a fifth of the time at V = 32,000. Smaller ones are better left where their reader finds them.
 */
bool streams(const dart_policy_loss_args &args) {
  constexpr int64_t kTooLarge = int64_t{1} << 23;
  return args.dlogits != nullptr && args.dlogits != args.logits && args.dlogits_type == DART_F32 && args.rows * args.vocabulary >= kTooLarge;
}

/* One row's part of the workspace. */
struct Record {
  RowSums sums;
  SequenceMeans means;
  TokenTerms terms;
  RowState state;
};

/* One call. */
struct PolicyLoss {
  const dart_policy_loss_args &args;
  const Instructions &table;
  Record *records;
  bool stream; /* see RowGradient */

  void whole_rows(int64_t begin, int64_t end) const;
  void measure_rows(int64_t begin, int64_t end) const;
  void finish_rows(int64_t begin, int64_t end) const;
  void share_sequences() const;
  void add_up() const;

 private:
  Row row_at(int64_t row, int64_t end) const;
  Kept keep(int64_t row) const;
  void measure(int64_t row, int64_t end, const Kept &kept) const;
  void finish(int64_t row, const Kept &kept) const;
};

const char *element(const void *matrix, int32_t type, int64_t index) { return static_cast<const char *>(matrix) + index * width_of(type); }
char *element(void *matrix, int32_t type, int64_t index) { return static_cast<char *>(matrix) + index * width_of(type); }

float logit(const dart_policy_loss_args &args, int64_t row) {
  const char *at = element(args.logits, args.logits_type, row * args.logits_stride + args.target[row]);
  return with_type(args.logits_type, [&]<typename T>(T *) { return to_float(*reinterpret_cast<const T *>(at)); });
}

/* Zeros; an excluded target keeps its -inf, so that a reader sees why. */
void write_unscored(const dart_policy_loss_args &args, int64_t row, RowState state) {
  args.logp[row] = state == RowState::excluded ? -INFINITY : 0.0f;
  args.entropy[row] = args.ratio[row] = args.weight[row] = args.token_loss[row] = 0;
  if (args.dlogits == nullptr) return;
  std::memset(element(args.dlogits, args.dlogits_type, row * args.dlogits_stride), 0, args.vocabulary * width_of(args.dlogits_type));
}

void write_token(const dart_policy_loss_args &args, int64_t row, const TokenTerms &terms, float entropy) {
  args.logp[row] = static_cast<float>(terms.logp);
  args.entropy[row] = entropy;
  args.ratio[row] = static_cast<float>(terms.ratio);
  args.weight[row] = static_cast<float>(terms.weight);
  args.token_loss[row] = static_cast<float>(terms.loss);
}

/* `end`: of the rows that this thread has. */
Row PolicyLoss::row_at(int64_t row, int64_t end) const {
  const bool more = row + 1 < end && !is_ignored(args, row + 1);
  return {
      element(args.logits, args.logits_type, row * args.logits_stride),
      args.vocabulary,
      args.logits_type,
      args.target[row],
      args.temperature,
      more ? element(args.logits, args.logits_type, (row + 1) * args.logits_stride) : nullptr,
  };
}

/* Where this row's exponentials stay until its gradient: in its dlogits when they are f32, else with the thread. */
Kept PolicyLoss::keep(int64_t row) const {
  if (args.dlogits == nullptr || args.entropy_coefficient != 0 || table.gradient_from_kept == nullptr) return {nullptr, nullptr};
  const bool own = args.dlogits_type == DART_F32 && !stream;
  float *scratch = thread_scratch(blocks_of(args.vocabulary) + 16 + (own ? 0 : args.vocabulary));
  if (scratch == nullptr) return {nullptr, nullptr};
  if (own) return {reinterpret_cast<float *>(element(args.dlogits, DART_F32, row * args.dlogits_stride)), scratch};
  return {scratch, scratch + args.vocabulary};
}

void PolicyLoss::measure(int64_t row, int64_t end, const Kept &kept) const {
  Record &record = records[row];
  record.means = {0.0, NAN};
  record.state = is_ignored(args, row) ? RowState::ignored : logit(args, row) == -INFINITY ? RowState::excluded : RowState::scored;
  if (record.state == RowState::scored) record.sums = table.row_sums(row_at(row, end), kept);
}

void PolicyLoss::finish(int64_t row, const Kept &kept) const {
  Record &record = records[row];
  if (record.state != RowState::scored) return write_unscored(args, row, record.state);
  record.terms = token_terms(args, row, record.sums.statistics, record.means);
  write_token(args, row, record.terms, record.sums.statistics.entropy);
  if (args.dlogits == nullptr) return;
  const double scale = args.scale[row];
  const RowGradient to = {
      element(args.dlogits, args.dlogits_type, row * args.dlogits_stride), args.dlogits_type, stream, scale * record.terms.d_logp,
      scale * record.terms.d_entropy,
  };
  if (kept.exponentials != nullptr) table.gradient_from_kept(row_at(row, row), record.sums, to, kept);
  else table.gradient(row_at(row, row), record.sums, to);
}

void PolicyLoss::whole_rows(int64_t begin, int64_t end) const {
  for (int64_t row = begin; row < end; row++) {
    const Kept kept = keep(row);
    measure(row, end, kept);
    finish(row, kept);
  }
}

void PolicyLoss::measure_rows(int64_t begin, int64_t end) const {
  for (int64_t row = begin; row < end; row++) measure(row, end, {nullptr, nullptr});
}

void PolicyLoss::finish_rows(int64_t begin, int64_t end) const {
  for (int64_t row = begin; row < end; row++) finish(row, {nullptr, nullptr});
}

/* Gives each row the means of its sequence. */
void PolicyLoss::share_sequences() const {
  for (int64_t sequence = 0; sequence < args.sequences; sequence++) {
    const int64_t begin = args.sequence_offsets[sequence], end = args.sequence_offsets[sequence + 1];
    SequenceSums sums;
    for (int64_t row = begin; row < end; row++)
      if (records[row].state == RowState::scored) add_to_sequence(sums, args, row, records[row].sums.statistics);
    for (int64_t row = begin; row < end; row++) records[row].means = sequence_means(sums);
  }
}

void PolicyLoss::add_up() const {
  dart_policy_statistics sums{};
  for (int64_t row = 0; row < args.rows; row++) {
    const Record &record = records[row];
    if (record.state == RowState::scored) count_token(sums, args, record.terms, args.scale[row], record.sums.statistics);
    sums.ignored += record.state == RowState::ignored ? 1 : 0;
    sums.excluded += record.state == RowState::excluded ? 1 : 0;
  }
  *args.statistics = sums;
}

}  // namespace
}  // namespace dart

extern "C" int64_t dart_policy_loss_workspace(int64_t rows) { return rows * static_cast<int64_t>(sizeof(dart::Record)); }

extern "C" int dart_policy_loss(const dart_policy_loss_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  const dart::PolicyLoss call = {*args, dart::instructions(), static_cast<dart::Record *>(args->workspace), dart::streams(*args)};
  const int64_t work = args->rows * args->vocabulary, each = dart::rows_of_a_piece(args->rows, args->vocabulary);
  if (dart::needs_sequences(*args)) {
    dart::for_pieces(args->rows, each, work, [&](int64_t begin, int64_t end) { call.measure_rows(begin, end); });
    call.share_sequences();
    dart::for_pieces(args->rows, each, work, [&](int64_t begin, int64_t end) { call.finish_rows(begin, end); });
  } else {
    dart::for_pieces(args->rows, each, work, [&](int64_t begin, int64_t end) { call.whole_rows(begin, end); });
  }
  call.add_up();
  return DART_OK;
}
