/* The GPU as a device: its errors, its memory, its name. */
#include <cstdio>
#include <string>

#include "common.cuh"

namespace dart {
namespace {
thread_local std::string last_error;

const char *hint_for(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return ". Try: fewer tokens a call";
  if (error == cudaErrorNoKernelImageForDevice) return ". Try: rebuild the kernels for this GPU (compute capability 8.0 or newer)";
  return "";
}

/* Why there is no device, in words: the runtime calls a missing driver one that is too old. */
std::string reason_for(cudaError_t error) {
  int driver = 0, runtime = 0;
  if (error == cudaSuccess || error == cudaErrorNoDevice) return "no CUDA device";
  if (error != cudaErrorInsufficientDriver) return cudaGetErrorString(error);
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return "no NVIDIA driver";
  cudaRuntimeGetVersion(&runtime);
  return "the NVIDIA driver supports CUDA " + std::to_string(driver / 1000) + ", the kernels need " + std::to_string(runtime / 1000);
}
}  // namespace

int fail(int status, const char *reason) {
  last_error = reason;
  return status;
}

int check_cuda(cudaError_t error, const char *file, int line) {
  if (error == cudaSuccess) return DART_OK;
  cudaGetLastError(); /* the runtime would report it again to the next caller that asks */
  char text[512];
  std::snprintf(text, sizeof text, "%s:%d: %s%s", file, line, cudaGetErrorString(error), hint_for(error));
  return fail(DART_DEVICE_ERROR, text);
}

}  // namespace dart

extern "C" int dart_kernels_abi(void) { return DART_KERNELS_ABI; }
extern "C" const char *dart_last_error(void) { return dart::last_error.c_str(); }

extern "C" int dart_device_count(void) {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

extern "C" int dart_device_describe(int device, char *text, int64_t size) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || device >= count) {
    std::snprintf(text, (size_t)size, "%s", dart::reason_for(error).c_str());
    return dart::fail(DART_DEVICE_ERROR, text);
  }
  cudaDeviceProp properties;
  DART_CUDA(cudaGetDeviceProperties(&properties, device));
  std::snprintf(text, (size_t)size, "%s, compute %d.%d, %.0f GiB", properties.name, properties.major, properties.minor,
                (double)properties.totalGlobalMem / (1 << 30));
  return DART_OK;
}

extern "C" int dart_device_set(int device) {
  DART_CUDA(cudaSetDevice(device));
  return DART_OK;
}

extern "C" int dart_device_synchronize(void) {
  DART_CUDA(cudaDeviceSynchronize());
  return DART_OK;
}

extern "C" int dart_set_threads(int) { return DART_OK; }
extern "C" int dart_threads(void) { return 1; }
extern "C" int dart_set_instructions(const char *name) {
  return std::string(name) == "auto" ? DART_OK : dart::fail(DART_BAD_ARGUMENT, "CUDA has only the instructions \"auto\"");
}
extern "C" const char *dart_instructions(void) { return "cuda"; }

extern "C" int dart_device_allocate(void **pointer, int64_t bytes) {
  DART_CUDA(cudaMalloc(pointer, (size_t)(bytes > 0 ? bytes : 1)));
  return DART_OK;
}

extern "C" int dart_device_free(void *pointer) {
  DART_CUDA(cudaFree(pointer));
  return DART_OK;
}

extern "C" int dart_device_copy(void *to, const void *from, int64_t bytes, int direction) {
  const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice};
  if (direction < DART_TO_DEVICE || direction > DART_ON_DEVICE) return dart::fail(DART_BAD_ARGUMENT, "unknown direction of a copy");
  DART_CUDA(cudaMemcpy(to, from, (size_t)bytes, kinds[direction]));
  return DART_OK;
}
