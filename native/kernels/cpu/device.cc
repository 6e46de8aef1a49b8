/* The CPU as a device: its errors, its memory, its name. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../dart_kernels.h"
#include "error.h"
#include "instructions.h"
#include "threads.h"

namespace dart {
namespace {
thread_local std::string last_error;
}

int fail(int status, const char *reason) {
  last_error = reason;
  return status;
}

}  // namespace dart

extern "C" int dart_kernels_abi(void) { return DART_KERNELS_ABI; }
extern "C" const char *dart_last_error(void) { return dart::last_error.c_str(); }
extern "C" int dart_device_count(void) { return 1; }

extern "C" int dart_device_describe(int, char *text, int64_t size) {
  std::snprintf(text, static_cast<size_t>(size), "CPU, %s", dart::instructions().title);
  return DART_OK;
}

extern "C" int dart_device_set(int device) { return device == 0 ? DART_OK : dart::fail(DART_BAD_ARGUMENT, "the CPU is device 0"); }
extern "C" int dart_device_synchronize(void) { return DART_OK; }

extern "C" int dart_threads(void) { return dart::thread_count(); }

extern "C" int dart_set_threads(int threads) {
  if (threads < 0 || threads > dart::kMostThreads) return dart::fail(DART_BAD_ARGUMENT, "threads must lie in 0..1024");
  dart::set_thread_count(threads);
  return DART_OK;
}

extern "C" int dart_device_allocate(void **pointer, int64_t bytes) {
  *pointer = std::malloc(bytes > 0 ? static_cast<size_t>(bytes) : 1);
  return *pointer != nullptr ? DART_OK : dart::fail(DART_DEVICE_ERROR, "out of memory");
}

extern "C" int dart_device_free(void *pointer) {
  std::free(pointer);
  return DART_OK;
}

extern "C" int dart_device_copy(void *to, const void *from, int64_t bytes, int) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return DART_OK;
}
