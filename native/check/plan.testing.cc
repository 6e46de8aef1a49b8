/* Prints, for what docs/kernels.md says of them: the longest rows that GPUs keep between read and write, and record sizes. */
#include <cstdio>

#include "../kernels/cuda/plan.cuh"

namespace {

/* The plan keeps every row up to a length, and none above. */
long long longest(const dart::DeviceLimits &limits, int element_bytes) {
  long long low = 1, high = 1LL << 24;
  while (high - low > 1) {
    const long long middle = (low + high) / 2;
    (dart::plan_for(limits, middle, element_bytes).keep ? low : high) = middle;
  }
  return low;
}

}  // namespace

int main() {
  const int reserved = 1024, a100 = 163 << 10, ampere = 99 << 10, hopper = 227 << 10;
  const dart::DeviceLimits sm_80 = {8, a100, a100 + reserved, reserved}, sm_86 = {8, ampere, ampere + reserved, reserved};
  const dart::DeviceLimits sm_90 = {9, hopper, hopper + reserved, reserved};
  std::printf("sm_80 bf16 %lld f32 %lld\n", longest(sm_80, 2), longest(sm_80, 4));
  std::printf("sm_86 bf16 %lld f32 %lld\n", longest(sm_86, 2), longest(sm_86, 4));
  std::printf("sm_90 ranks %d %d\n", dart::plan_for(sm_90, 152064, 2).ranks, dart::plan_for(sm_90, 152064, 4).ranks);
  std::printf("slot %zu\n", sizeof(dart::Slot));
}
