/*
 * Fused policy loss on CUDA where a token's loss needs no other token: log-probability, entropy, loss and dlogits of a
 * row in one kernel. The row is read once, kept on chip (plan.cuh) and its dlogits are written once: 4 bytes * N * V in
 * bf16. A row too long to keep is read a second time.
 */
#include "../validate.h"
#include "plan.cuh"

namespace dart {
namespace {

/* The part of a row that a thread keeps: kKept vectors here, the others in shared memory that only this thread touches. */
template <typename T>
struct KeptRow {
  uint4 registers[kKept];
  uint4 *shared;

  /* Copies first: they need no register, and all of them are under way before the first number is looked at. */
  __device__ void load(const Slice<T> &slice) {
    for (int vector = kKept * kRowThreads + threadIdx.x; vector < slice.count; vector += kRowThreads) begin_copy(place(vector), slice.vectors + vector);
    load_batch(slice, threadIdx.x, registers);
  }

  __device__ uint4 *place(int vector) const { return shared + vector - kKept * kRowThreads; }

  __device__ void add_to(const Slice<T> &slice, float factor, Online &own) const {
#pragma unroll
    for (int k = 0; k < kKept; k++) add_vector<T>(registers[k], factor, own);
    finish_copies();
    for (int vector = kKept * kRowThreads + threadIdx.x; vector < slice.count; vector += kRowThreads) add_vector<T>(*place(vector), factor, own);
  }

  __device__ void write_gradient(const GradientWriter<T> &writer) const {
#pragma unroll
    for (int k = 0; k < kKept; k++) {
      const int vector = threadIdx.x + k * kRowThreads;
      if (vector < writer.slice.count) writer.write(vector, registers[k]);
    }
    for (int vector = kKept * kRowThreads + threadIdx.x; vector < writer.slice.count; vector += kRowThreads) writer.write(vector, *place(vector));
  }
};

/*
 * The token's own arithmetic, by one thread of each block of the row; rank 0 writes it down. Not inlined: in double it
 * needs the registers that hold the row.
 */
__device__ __noinline__ void finish_token(const dart_policy_loss_args &args, int64_t row, Partial total, float target, Slot *slot,
                                          RowGradient *gradient) {
  const RowStatistics statistics = statistics_of(total, target);
  const TokenTerms terms = token_terms(args, row, statistics, {0.0, NAN});
  if (slot != nullptr) write_scored(args, row, statistics, terms, *slot);
  *gradient = row_gradient(args, row, statistics, terms);
}

/*
 * `ranks` blocks a row. The barriers of a row's blocks: all leave before the first (ignored rows), or all go through the
 * one of an excluded row, or through the two of a scored one. In place, nothing is written before every thread of the row
 * has read what it reads.
 */
template <typename T, bool kKeep>
__global__ void __launch_bounds__(kRowThreads, 2)
row_kernel(const __grid_constant__ dart_policy_loss_args args, Slot *slots, int64_t first_row, int ranks) {
  DART_DYNAMIC_SHARED(dynamic_shared);
  RowShared *shared = (RowShared *)dynamic_shared;
  const int64_t row = first_row + blockIdx.x / ranks;
  const int rank = blockIdx.x % ranks;
  const bool speaks = rank == 0 && threadIdx.x == 0;
  if (is_ignored(args, row)) {
    if (speaks) write_unscored(args, row, RowState::ignored, slots[row]);
    return write_zeros(args, row, rank, ranks);
  }
  const T *logits = logits_of<T>(args, row);
  const float target = load(logits + args.target[row]);
  if (target == -INFINITY) {
    row_barrier(ranks); /* in place: others may not have read the target yet */
    if (speaks) write_unscored(args, row, RowState::excluded, slots[row]);
    return write_zeros(args, row, rank, ranks);
  }

  const Slice<T> slice = slice_of(logits, args.vocabulary, rank, ranks);
  const float factor = factor_of(args.temperature);
  Online own;
  KeptRow<T> kept;
  if constexpr (kKeep) {
    kept.shared = dynamic_shared + sizeof(RowShared) / sizeof(uint4);
    kept.load(slice);
  }
  const float loose = add_loose(logits, slice, factor, own);
  if constexpr (kKeep)
    kept.add_to(slice, factor, own);
  else
    add_streamed(slice, factor, own);

  const Partial total = merge_row(own, &shared->exchange, factor, ranks);
  if (threadIdx.x == 0) finish_token(args, row, total, target, rank == 0 ? slots + row : nullptr, &shared->gradient);
  __syncthreads();
  if (ranks > 1) cluster_arrive(); /* has read the other blocks' shared memory */
  if (args.dlogits != nullptr) {
    const GradientWriter<T> writer(args, row, slice, shared->gradient);
    writer.write_loose(loose);
    if constexpr (kKeep)
      kept.write_gradient(writer);
    else
      writer.write_streamed();
  }
  if (ranks > 1) cluster_wait(); /* and has not ended before they read its own */
}

template <typename T, bool kKeep>
int launch_rows(const dart_policy_loss_args &args, Slot *slots, const Plan &plan) {
  const int64_t most = INT32_MAX / plan.ranks; /* rows of a grid */
  for (int64_t first = 0; first < args.rows; first += most) {
    const int64_t rows = args.rows - first < most ? args.rows - first : most;
    const Shape shape = {rows * plan.ranks, kRowThreads, plan.ranks, plan.shared_bytes};
    DART_TRY(launch(row_kernel<T, kKeep>, shape, args.stream, args, slots, first, plan.ranks));
  }
  return DART_OK;
}

template <typename T>
int launch_token_loss(const dart_policy_loss_args &args, Slot *slots) {
  DeviceLimits limits;
  DART_TRY(device_limits(&limits));
  const Plan plan = plan_for(limits, args.vocabulary, sizeof(T));
  const Plan twice = {false, 1, (int)sizeof(RowShared)};
  if (!plan.keep || args.dlogits == nullptr) return launch_rows<T, false>(args, slots, twice);
  DART_TRY(allow_shared_memory(row_kernel<T, true>, limits.block_bytes));
  const bool possible = can_hold_cluster(row_kernel<T, true>, {plan.ranks, kRowThreads, plan.ranks, plan.shared_bytes});
  return possible ? launch_rows<T, true>(args, slots, plan) : launch_rows<T, false>(args, slots, twice);
}

int launch_policy_loss(const dart_policy_loss_args &args) {
  Slot *slots = (Slot *)args.workspace;
  if (needs_sequences(args)) {
    DART_TRY(launch_sequence_loss(args, slots));
  } else if (args.rows > 0) {
    if (args.logits_type == DART_F32) DART_TRY(launch_token_loss<float>(args, slots));
    if (args.logits_type == DART_BF16) DART_TRY(launch_token_loss<__nv_bfloat16>(args, slots));
    if (args.logits_type == DART_F16) DART_TRY(launch_token_loss<__half>(args, slots));
  }
  return sum_statistics(args, slots);
}

}  // namespace
}  // namespace dart

extern "C" int dart_policy_loss(const dart_policy_loss_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->vocabulary > INT32_MAX) return dart::fail(DART_BAD_ARGUMENT, "vocabulary must be below 2^31, as targets are");
  return dart::launch_policy_loss(*args);
}
