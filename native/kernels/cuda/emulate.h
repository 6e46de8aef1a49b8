/*
 * Enough of CUDA to run the kernels of this folder on the CPU, for tests on machines without a GPU. The sources are
 * compiled as C++ with this header in place of NVIDIA's (common.cuh chooses). A block's threads are fibers that run one
 * after the other from barrier to barrier; a barrier that only some of them reach is an error, as it is on a GPU.
 * Device memory is host memory, but copies are real, so that a forgotten copy shows.
 */
#ifndef DART_CUDA_EMULATE_H
#define DART_CUDA_EMULATE_H

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static /* one block runs at a time */

struct Dimension {
  unsigned x;
};

namespace emulate {

constexpr size_t kStackBytes = 64 * 1024;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool finished;
};

struct Machine {
  ucontext_t scheduler;
  std::vector<Fiber> fibers;
  std::function<void()> body;
  Fiber *running = nullptr;
};

inline Machine machine;
inline Dimension thread_index, block_index;

inline void fiber_main() {
  machine.body();
  machine.running->finished = true;
  swapcontext(&machine.running->context, &machine.scheduler);
}

inline void start(Fiber &fiber) {
  if (!fiber.stack) fiber.stack.reset(new char[kStackBytes]);
  fiber.finished = false;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, fiber_main, 0);
}

/* Runs each unfinished thread to its next barrier or its end; returns how many stand at a barrier. */
inline unsigned run_to_barrier(unsigned threads) {
  unsigned waiting = 0;
  for (unsigned k = 0; k < threads; k++) {
    Fiber &fiber = machine.fibers[k];
    if (fiber.finished) continue;
    thread_index.x = k;
    machine.running = &fiber;
    swapcontext(&machine.scheduler, &fiber.context);
    waiting += fiber.finished ? 0 : 1;
  }
  return waiting;
}

inline void run_block(unsigned threads) {
  for (unsigned k = 0; k < threads; k++) start(machine.fibers[k]);
  for (unsigned waiting = threads; waiting > 0;) {
    waiting = run_to_barrier(threads);
    if (waiting == 0 || waiting == threads) continue;
    std::fprintf(stderr, "emulated CUDA: block %u: %u of %u threads reached a barrier\n", block_index.x, waiting, threads);
    std::abort();
  }
}

inline void run_grid(unsigned blocks, unsigned threads, std::function<void()> body) {
  if (machine.fibers.size() < threads) machine.fibers.resize(threads);
  machine.body = std::move(body);
  for (block_index.x = 0; block_index.x < blocks; block_index.x++) run_block(threads);
}

}  // namespace emulate

#define threadIdx ::emulate::thread_index
#define blockIdx ::emulate::block_index

inline void __syncthreads() { swapcontext(&emulate::machine.running->context, &emulate::machine.scheduler); }

/* bf16: the upper half of an f32, rounded to nearest even. */
struct __nv_bfloat16 {
  uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/* The few functions of the runtime that the sources call. */
enum cudaError_t { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorNoKernelImageForDevice };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
using cudaStream_t = void *;
struct cudaDeviceProp {
  char name[64];
  int major, minor;
  size_t totalGlobalMem;
};

inline const char *cudaGetErrorString(cudaError_t error) { return error == cudaErrorMemoryAllocation ? "out of memory" : "error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = {"emulated GPU", 0, 0, 0};
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

#endif
