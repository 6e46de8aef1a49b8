/* What every CUDA source shares: errors in words, loads and stores of both types, reductions over a block. */
#ifndef DART_CUDA_COMMON_CUH
#define DART_CUDA_COMMON_CUH

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#else
#include "emulate.h"
#endif

#include "../dart_kernels.h"

namespace dart {

constexpr int kThreads = 256; /* of a block; a power of two */

/* Keeps the reason for dart_last_error() and returns the code. */
int fail(int status, const char *reason);
/* DART_OK, or the failed call with file and line and a hint. */
int check_cuda(cudaError_t error, const char *file, int line);
#define DART_CUDA(call)                                                                              \
  do {                                                                                               \
    if (const int dart_status = ::dart::check_cuda((call), __FILE__, __LINE__)) return dart_status; \
  } while (0)

__device__ inline float load(const float *from) { return *from; }
__device__ inline float load(const __nv_bfloat16 *from) { return __bfloat162float(*from); }
__device__ inline void store(float *to, float value) { *to = value; }
__device__ inline void store(__nv_bfloat16 *to, float value) { *to = __float2bfloat16_rn(value); }

struct Add {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a + b; }
};
struct Maximum {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

/* Combines one value of each of kThreads threads in a fixed order; every thread gets the result. */
template <typename T, typename Combine>
__device__ T block_reduce(T value, Combine combine) {
  __shared__ T cell[kThreads];
  __syncthreads();
  cell[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) cell[threadIdx.x] = combine(cell[threadIdx.x], cell[threadIdx.x + half]);
    __syncthreads();
  }
  return cell[0];
}

/* kernel<<<blocks, kThreads, 0, stream>>>(arguments...), for a compiler that knows the syntax and for one that does not. */
template <typename... Parameters, typename... Arguments>
void launch_kernel(void (*kernel)(Parameters...), unsigned blocks, void *stream, Arguments... arguments) {
#ifdef __CUDACC__
  kernel<<<blocks, kThreads, 0, (cudaStream_t)stream>>>(arguments...);
#else
  (void)stream;
  emulate::run_grid(blocks, kThreads, [=] { kernel(arguments...); });
#endif
}

inline unsigned blocks_for(int64_t items) { return (unsigned)((items + kThreads - 1) / kThreads); }

}  // namespace dart

#endif
