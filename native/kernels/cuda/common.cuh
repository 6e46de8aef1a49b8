/* What every CUDA source shares: errors in words, launches, reductions over a block in a fixed order. */
#ifndef DART_CUDA_COMMON_CUH
#define DART_CUDA_COMMON_CUH

#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#else
#include "emulate.h"
#endif

#include "../dart_kernels.h"

namespace dart {

constexpr int kThreads = 256; /* of a block, unless a kernel says otherwise */
constexpr int kWarp = 32;
constexpr unsigned kWholeWarp = 0xffffffffu;

/* Keeps the reason for dart_last_error() and returns the code. */
int fail(int status, const char *reason);
/* DART_OK, or the failed call with file and line and a hint. */
int check_cuda(cudaError_t error, const char *file, int line);
#define DART_CUDA(call)                                                                              \
  do {                                                                                               \
    if (const int dart_status = ::dart::check_cuda((call), __FILE__, __LINE__)) return dart_status; \
  } while (0)
/* The same for a call that returns a dart_status. */
#define DART_TRY(call)                                         \
  do {                                                         \
    if (const int dart_status = (call)) return dart_status; \
  } while (0)

struct Add {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a + b; }
};
struct Maximum {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

/* Combines one value of each lane in a fixed order; every lane gets the result. */
template <typename T, typename Combine>
__device__ T warp_reduce(T value, Combine combine) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) value = combine(value, __shfl_xor_sync(kWholeWarp, value, distance));
  return value;
}

/* Combines one value of each of kThreads threads in a fixed order; every thread gets the result. */
template <typename T, typename Combine>
__device__ T block_reduce(T value, Combine combine) {
  constexpr int warps = kThreads / kWarp;
  __shared__ T cell[warps];
  value = warp_reduce(value, combine);
  __syncthreads(); /* the cells of the reduction before this one have been read */
  if (threadIdx.x % kWarp == 0) cell[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = cell[0];
  for (int warp = 1; warp < warps; warp++) value = combine(value, cell[warp]);
  return value;
}

/* Grid and block of a launch. Blocks with consecutive indices form clusters of `cluster`; above 1 only where the device has them. */
struct Shape {
  int64_t blocks;
  int threads = kThreads;
  int cluster = 1;
  int shared_bytes = 0; /* dynamic shared memory of a block */
};

#ifdef __CUDACC__
/* A shape as the runtime wants it. Not to be copied: config points at the attribute beside it. */
struct LaunchConfig {
  cudaLaunchAttribute cluster = {};
  cudaLaunchConfig_t config = {};

  LaunchConfig(const Shape &shape, void *stream) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = (unsigned)shape.cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)shape.blocks);
    config.blockDim = dim3((unsigned)shape.threads);
    config.dynamicSmemBytes = (size_t)shape.shared_bytes;
    config.stream = (cudaStream_t)stream;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster > 1 ? 1 : 0;
  }
  LaunchConfig(const LaunchConfig &) = delete;
};
#endif

/* kernel<<<shape, stream>>>(arguments...); nothing when there are no blocks. Returns a dart_status. */
template <typename... Parameters, typename... Arguments>
int launch(void (*kernel)(Parameters...), const Shape &shape, void *stream, Arguments... arguments) {
  if (shape.blocks == 0) return DART_OK;
  if (shape.blocks > INT32_MAX) return fail(DART_BAD_ARGUMENT, "more blocks than a grid has: pass fewer tokens or elements a call");
#ifdef __CUDACC__
  const LaunchConfig launch(shape, stream);
  DART_CUDA(cudaLaunchKernelEx(&launch.config, kernel, Parameters(arguments)...));
#else
  (void)stream;
  DART_CUDA(emulate::launch((unsigned)shape.blocks, shape.threads, shape.cluster, shape.shared_bytes, [=] { kernel(arguments...); }));
#endif
  return DART_OK;
}

/* Lets blocks of the kernel have up to `bytes` of dynamic shared memory, and the multiprocessor prefer it to cache. Of the current device. */
template <typename Kernel>
int allow_shared_memory(Kernel *kernel, int bytes) {
#ifdef __CUDACC__
  DART_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  DART_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
#else
  (void)kernel, (void)bytes;
#endif
  return DART_OK;
}

/* Whether the device can hold one cluster of the shape; a share of a GPU may be too small for it. */
template <typename Kernel>
bool can_hold_cluster(Kernel *kernel, const Shape &shape) {
  if (shape.cluster == 1) return true;
#ifdef __CUDACC__
  int clusters = 0;
  const LaunchConfig launch(shape, nullptr);
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config);
  if (error != cudaSuccess) cudaGetLastError(); /* or the next check reports it */
  return error == cudaSuccess && clusters > 0;
#else
  (void)kernel;
  return true;
#endif
}

/* Blocks of kThreads that together have a thread for each item. */
inline Shape for_each_of(int64_t items) { return {(items + kThreads - 1) / kThreads}; }

}  // namespace dart

#endif
