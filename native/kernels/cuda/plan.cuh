/*
 * Where a row is kept between its read and its write. A block keeps kKept vectors a thread in registers (384 threads * 6
 * * 16 bytes = 36 KiB) and the rest in shared memory. Two blocks should fit a multiprocessor, so that one row's loads
 * overlap another's arithmetic and stores: that leaves 80 registers a thread, of which 24 hold the row, and 113 KiB of
 * shared memory a block on Hopper, so 149 KiB of row. V = 152,064 in bf16 (297 KiB) takes a cluster of two blocks, in
 * f32 one of four. Where there are no clusters a row may have a multiprocessor for itself; a longer one is read twice.
 */
#ifndef DART_CUDA_PLAN_CUH
#define DART_CUDA_PLAN_CUH

#include "policy_rows.cuh"

namespace dart {

/* The emulation keeps fewer, so that short rows reach every path. */
#ifndef DART_KEPT_VECTORS
#define DART_KEPT_VECTORS 6
#endif
constexpr int kKept = DART_KEPT_VECTORS;

/* The beginning of a block's dynamic shared memory; kept vectors follow. */
struct alignas(16) RowShared {
  Exchange exchange;
  RowGradient gradient;
};

struct Plan {
  bool keep;        /* false: the row is read twice */
  int ranks;        /* blocks of a row */
  int shared_bytes; /* of a block */
};

struct DeviceLimits {
  int compute_major;
  int block_bytes;    /* shared memory that a block can ask for */
  int processor_bytes; /* and a multiprocessor has */
  int reserved_bytes; /* of that for each block, by the driver */
};

/* Of the current device. Not remembered: the runtime answers from a table, faster than a lock would. */
inline int device_limits(DeviceLimits *limits) {
  int device = 0;
  DART_CUDA(cudaGetDevice(&device));
  DART_CUDA(cudaDeviceGetAttribute(&limits->compute_major, cudaDevAttrComputeCapabilityMajor, device));
  DART_CUDA(cudaDeviceGetAttribute(&limits->block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  DART_CUDA(cudaDeviceGetAttribute(&limits->processor_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  DART_CUDA(cudaDeviceGetAttribute(&limits->reserved_bytes, cudaDevAttrReservedSharedMemoryPerBlock, device));
  return DART_OK;
}

/* Shared memory of each block when `ranks` of them keep a row of so many 16-byte vectors. */
inline int64_t shared_bytes_for(int64_t vectors, int ranks) {
  const int64_t share = (vectors + ranks - 1) / ranks, in_registers = (int64_t)kKept * kRowThreads;
  return (int64_t)sizeof(RowShared) + (share > in_registers ? share - in_registers : 0) * (int64_t)sizeof(uint4);
}

/* The fewest blocks that let two of them share a multiprocessor; failing that, that fit at all. */
inline Plan plan_for(const DeviceLimits &limits, int64_t vocabulary, int element_bytes) {
  const int64_t vectors = vocabulary * element_bytes / (int64_t)sizeof(uint4);
  const int most_ranks = limits.compute_major >= 9 ? 8 : 1; /* 8: what every device with clusters can do */
  const int half = limits.processor_bytes / 2 - limits.reserved_bytes;
  for (const int limit : {half < limits.block_bytes ? half : limits.block_bytes, limits.block_bytes})
    for (int ranks = 1; ranks <= most_ranks; ranks *= 2)
      if (const int64_t bytes = shared_bytes_for(vectors, ranks); bytes <= limit) return {true, ranks, (int)bytes};
  return {false, 1, (int)sizeof(RowShared)};
}

}  // namespace dart

#endif
