/*
 * The blocks that share a row. On Hopper they form a cluster: they run at the same time and read each other's shared
 * memory. `ranks` is their number, 1 where a row has a block of its own.
 */
#ifndef DART_CUDA_CLUSTER_CUH
#define DART_CUDA_CLUSTER_CUH

#include "common.cuh"

namespace dart {

#ifdef __CUDACC__

/*
 * Arrivals release what a thread wrote before, waits acquire what the others released. Not `.aligned`: the threads of a
 * warp may come from a loop at different times. Without clusters `ranks` is 1 and these are not called.
 */
__device__ inline void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
__device__ inline void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}
/* The same place in the shared memory of block `rank` of the cluster. */
template <typename T>
__device__ inline const T *in_block(const T *own, int rank) {
#if __CUDA_ARCH__ >= 900
  return cooperative_groups::this_cluster().map_shared_rank(own, rank);
#else
  (void)rank;
  return own;
#endif
}
#define DART_DYNAMIC_SHARED(name) extern __shared__ uint4 name[]

#else

inline void cluster_arrive() { emulate::self().cluster_phase = emulate::arrive(emulate::machine.cluster); }
inline void cluster_wait() { emulate::wait(emulate::machine.cluster, emulate::self().cluster_phase); }
template <typename T>
const T *in_block(const T *own, int rank) {
  const ptrdiff_t offset = (const unsigned char *)own - emulate::dynamic_shared(*emulate::self().block);
  return (const T *)(emulate::dynamic_shared(emulate::machine.blocks[rank]) + offset);
}
#define DART_DYNAMIC_SHARED(name) uint4 *name = (uint4 *)emulate::dynamic_shared(*emulate::self().block)

#endif

/* Every thread that shares the row has come here. */
__device__ inline void row_barrier(int ranks) {
  if (ranks == 1) return __syncthreads();
  cluster_arrive();
  cluster_wait();
}

}  // namespace dart

#endif
