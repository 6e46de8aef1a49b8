/*
 * Enough of CUDA to run the kernels of this folder on the CPU, for tests on machines without a GPU. The sources are
 * compiled as C++ with this header in place of NVIDIA's (common.cuh chooses); emulate_threads.h runs the threads,
 * emulate_types.h has the number formats. Device memory is host memory, but copies are real, so that a forgotten copy
 * shows. The device is an invention: DART_EMULATE_COMPUTE (90: with clusters; 80: without) and
 * DART_EMULATE_SHARED_BYTES (shared memory of a multiprocessor) force the path that a kernel takes; DART_EMULATE_LOG
 * names a file that gets a line for each launch: blocks, threads, blocks of a cluster, bytes of dynamic shared memory.
 * DART_EMULATE_NAME is what the device calls itself.
 */
#ifndef DART_CUDA_EMULATE_H
#define DART_CUDA_EMULATE_H

#include "emulate_threads.h"
#include "emulate_types.h"

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __noinline__
#define __shared__ static /* of a block that runs alone; a kernel of clusters has only dynamic shared memory */

#define threadIdx (::emulate::self().thread)
#define blockIdx (::emulate::self().block_index)
#define gridDim (::emulate::machine.grid)

inline void __syncthreads() { emulate::synchronize(emulate::self().block->barrier); }

/* Shuffles of whole warps, as all of ours are. */
template <typename T>
T __shfl_xor_sync(unsigned, T value, unsigned mask) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = emulate::exchange(bits, (emulate::self().thread.x % emulate::kWarp) ^ mask);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/* The few functions of the runtime that the sources call. */
enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorInsufficientDriver,
  cudaErrorNoKernelImageForDevice,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrReservedSharedMemoryPerBlock,
};
using cudaStream_t = void *;
struct cudaDeviceProp {
  char name[64];
  int major, minor;
  size_t totalGlobalMem;
};

namespace emulate {

inline int setting(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}
inline int compute() { return setting("DART_EMULATE_COMPUTE", 90); }

constexpr int kReservedBytes = 1024; /* of each block, by the driver */

}  // namespace emulate

inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  const int shared = emulate::setting("DART_EMULATE_SHARED_BYTES", 228 * 1024);
  if (attribute == cudaDevAttrComputeCapabilityMajor) *value = emulate::compute() / 10;
  if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) *value = shared - emulate::kReservedBytes;
  if (attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor) *value = shared;
  if (attribute == cudaDevAttrReservedSharedMemoryPerBlock) *value = emulate::kReservedBytes;
  return cudaSuccess;
}

inline const char *cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return "out of memory";
  return error == cudaErrorInvalidValue ? "invalid argument" : "error";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = {"", emulate::compute() / 10, emulate::compute() % 10, 0};
  const char *name = std::getenv("DART_EMULATE_NAME");
  std::snprintf(properties->name, sizeof properties->name, "%s", name == nullptr ? "emulated GPU" : name);
  return cudaSuccess;
}

/* New memory is filled with NaNs, so that reading what was never written shows. */
inline cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  *pointer = std::malloc(bytes);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*pointer, 0xff, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void *pointer) { return std::free(pointer), cudaSuccess; }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) { return std::memcpy(to, from, bytes), cudaSuccess; }

namespace emulate {

inline void log_launch(unsigned grid, unsigned threads, unsigned cluster, size_t shared_bytes) {
  const char *name = std::getenv("DART_EMULATE_LOG");
  if (name == nullptr || *name == '\0') return;
  std::FILE *file = std::fopen(name, "a");
  if (file == nullptr) return;
  std::fprintf(file, "%u %u %u %zu\n", grid, threads, cluster, shared_bytes);
  std::fclose(file);
}

/* A launch that a GPU with these limits would refuse is refused. */
inline cudaError_t launch(unsigned grid, unsigned threads, unsigned cluster, size_t shared_bytes, std::function<void()> body) {
  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  const bool possible = grid > 0 && grid % cluster == 0 && cluster <= 8 && (cluster == 1 || compute() >= 90);
  if (!possible || shared_bytes > static_cast<size_t>(most) || threads > 1024) return cudaErrorInvalidValue;
  log_launch(grid, threads, cluster, shared_bytes);
  run_grid(grid, threads, cluster, shared_bytes, std::move(body));
  return cudaSuccess;
}

}  // namespace emulate

#endif
