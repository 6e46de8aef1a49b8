/*
 * Policy losses of whole sequences (GSPO, sequence-level weights): a token's gradient waits for its sequence's mean, so
 * logits are read twice. Three kernels: statistics (a block a row), terms (a block a sequence), gradient (a block a row):
 * 6 bytes * N * V in bf16.
 */
#include "policy_rows.cuh"

namespace dart {
namespace {

template <typename T>
__global__ void __launch_bounds__(kRowThreads, 2)
statistics_kernel(const __grid_constant__ dart_policy_loss_args args, Slot *slots, int64_t first_row) {
  DART_DYNAMIC_SHARED(dynamic_shared);
  const int64_t row = first_row + blockIdx.x;
  const float target = is_ignored(args, row) ? -INFINITY : load(logits_of<T>(args, row) + args.target[row]);
  if (target == -INFINITY) {
    if (threadIdx.x == 0) slots[row].state = is_ignored(args, row) ? RowState::ignored : RowState::excluded;
    return;
  }
  const T *logits = logits_of<T>(args, row);
  const Slice<T> slice = slice_of(logits, args.vocabulary, 0, 1);
  const float factor = factor_of(args.temperature);
  Online own;
  add_loose(logits, slice, factor, own);
  add_streamed(slice, factor, own);
  const Partial total = merge_row(own, (Exchange *)dynamic_shared, factor, 1);
  if (threadIdx.x != 0) return;
  slots[row].row = statistics_of(total, target);
  slots[row].state = RowState::scored;
}

/* Thread k adds tokens k, k + kThreads, …; the partial sums are combined in a fixed order. */
__device__ SequenceMeans means_of(const dart_policy_loss_args &args, const Slot *slots, int64_t begin, int64_t end) {
  SequenceSums sums;
  for (int64_t row = begin + threadIdx.x; row < end; row += kThreads)
    if (slots[row].state == RowState::scored) add_to_sequence(sums, args, row, slots[row].row);
  sums.ratio = block_reduce(sums.ratio, Add());
  sums.ratio_count = block_reduce(sums.ratio_count, Add());
  sums.weight = block_reduce(sums.weight, Add());
  sums.weight_count = block_reduce(sums.weight_count, Add());
  return sequence_means(sums);
}

__global__ void terms_kernel(const __grid_constant__ dart_policy_loss_args args, Slot *slots) {
  const int64_t begin = args.sequence_offsets[blockIdx.x], end = args.sequence_offsets[blockIdx.x + 1];
  const SequenceMeans means = means_of(args, slots, begin, end);
  for (int64_t row = begin + threadIdx.x; row < end; row += kThreads) {
    Slot &slot = slots[row];
    if (slot.state != RowState::scored) {
      write_unscored(args, row, slot.state, slot);
      continue;
    }
    const RowStatistics statistics = slot.row;
    write_scored(args, row, statistics, token_terms(args, row, statistics, means), slot);
  }
}

template <typename T>
__global__ void __launch_bounds__(kRowThreads, 2)
gradient_kernel(const __grid_constant__ dart_policy_loss_args args, const Slot *slots, int64_t first_row) {
  const int64_t row = first_row + blockIdx.x;
  const Slot &slot = slots[row];
  if (slot.state != RowState::scored) return write_zeros(args, row, 0, 1);
  const T *logits = logits_of<T>(args, row);
  const Slice<T> slice = slice_of(logits, args.vocabulary, 0, 1);
  const GradientWriter<T> writer(args, row, slice, row_gradient(args, row, slot.row, slot.terms));
  if (slice.loose >= 0) writer.write_loose(load(logits + slice.loose));
  writer.write_streamed();
}

template <typename T>
int launch_passes(const dart_policy_loss_args &args, Slot *slots) {
  const auto each_row = [&](auto launch_rows) {
    for (int64_t first = 0; first < args.rows; first += INT32_MAX)
      DART_TRY(launch_rows(first, args.rows - first < INT32_MAX ? args.rows - first : INT32_MAX));
    return (int)DART_OK;
  };
  DART_TRY(each_row([&](int64_t first, int64_t rows) {
    const Shape shape = {rows, kRowThreads, 1, (int)sizeof(Exchange)};
    return launch(statistics_kernel<T>, shape, args.stream, args, slots, first);
  }));
  DART_TRY(launch(terms_kernel, {args.sequences}, args.stream, args, slots));
  if (args.dlogits == nullptr) return DART_OK;
  return each_row([&](int64_t first, int64_t rows) {
    return launch(gradient_kernel<T>, {rows, kRowThreads}, args.stream, args, (const Slot *)slots, first);
  });
}

}  // namespace

int launch_sequence_loss(const dart_policy_loss_args &args, Slot *slots) {
  if (args.logits_type == DART_F32) return launch_passes<float>(args, slots);
  if (args.logits_type == DART_BF16) return launch_passes<__nv_bfloat16>(args, slots);
  return launch_passes<__half>(args, slots);
}

}  // namespace dart
