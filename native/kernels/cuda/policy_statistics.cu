/* Adds up what the tokens of a policy loss left in their slots: blocks over the rows, then one block over the blocks. */
#include "policy_rows.cuh"

namespace dart {
namespace {

constexpr int kSumBlocks = 64;
constexpr int kFields = sizeof(dart_policy_statistics) / sizeof(double);
constexpr int kMaximumField = offsetof(dart_policy_statistics, weight_max) / sizeof(double);

/* One struct of each thread to one of the block, field by field in a fixed order. */
__device__ void sum_block(const dart_policy_statistics &own, dart_policy_statistics *out) {
  constexpr int warps = kThreads / kWarp;
  __shared__ double cells[warps][kFields];
  const double *fields = (const double *)&own;
#pragma unroll
  for (int k = 0; k < kFields; k++) {
    const double value = k == kMaximumField ? warp_reduce(fields[k], Maximum()) : warp_reduce(fields[k], Add());
    if (threadIdx.x % kWarp == 0) cells[threadIdx.x / kWarp][k] = value;
  }
  __syncthreads();
  const int k = threadIdx.x;
  if (k >= kFields) return;
  double value = cells[0][k];
  for (int warp = 1; warp < warps; warp++) value = k == kMaximumField ? Maximum()(value, cells[warp][k]) : value + cells[warp][k];
  ((double *)out)[k] = value;
}

__global__ void slots_kernel(const __grid_constant__ dart_policy_loss_args args, const Slot *slots, dart_policy_statistics *partial, int64_t stride) {
  dart_policy_statistics sums = {};
  for (int64_t row = (int64_t)blockIdx.x * kThreads + threadIdx.x; row < args.rows; row += stride) {
    const Slot &slot = slots[row];
    if (slot.state == RowState::scored) count_token(sums, args, slot.terms, args.scale[row], slot.row);
    sums.ignored += slot.state == RowState::ignored ? 1 : 0;
    sums.excluded += slot.state == RowState::excluded ? 1 : 0;
  }
  sum_block(sums, partial + blockIdx.x);
}

__global__ void partial_kernel(const dart_policy_statistics *partial, int count, dart_policy_statistics *out) {
  static_assert(kSumBlocks <= kThreads, "a thread for each partial sum");
  const dart_policy_statistics none = {};
  sum_block((int)threadIdx.x < count ? partial[threadIdx.x] : none, out);
}

}  // namespace

int sum_statistics(const dart_policy_loss_args &args, const Slot *slots) {
  dart_policy_statistics *partial = (dart_policy_statistics *)(slots + args.rows);
  Shape shape = for_each_of(args.rows);
  if (shape.blocks > kSumBlocks) shape.blocks = kSumBlocks;
  DART_TRY(launch(slots_kernel, shape, args.stream, args, slots, partial, shape.blocks * kThreads));
  return launch(partial_kernel, {1}, args.stream, (const dart_policy_statistics *)partial, (int)shape.blocks, args.statistics);
}

}  // namespace dart

extern "C" int64_t dart_policy_loss_workspace(int64_t rows) {
  return rows * (int64_t)sizeof(dart::Slot) + dart::kSumBlocks * (int64_t)sizeof(dart_policy_statistics);
}
