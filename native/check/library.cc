#include "library.h"

#include <dlfcn.h>

#include <cstdio>

namespace check {
namespace {

[[noreturn]] void stop(const std::string &text) {
  std::fprintf(stderr, "check_kernels: %s\n", text.c_str());
  std::exit(2);
}

template <typename Function>
void resolve(void *handle, const std::string &path, const char *name, Function *function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  if (*function == nullptr) stop(path + " has no function " + name + ". Try: build it from this checkout");
}

}  // namespace

Library open_library(const std::string &path) {
  void *handle = dlopen(path.find('/') == std::string::npos ? ("./" + path).c_str() : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) stop(std::string("the library cannot be opened: ") + dlerror());
  Library library{};
#define DART_CHECK_RESOLVE(name) resolve(handle, path, #name, &library.name);
  DART_CHECK_FUNCTIONS(DART_CHECK_RESOLVE)
#undef DART_CHECK_RESOLVE
  if (const int abi = library.dart_kernels_abi(); abi != DART_KERNELS_ABI)
    stop(path + " has interface " + std::to_string(abi) + ", this program needs " + std::to_string(DART_KERNELS_ABI));
  char text[512] = "";
  if (library.dart_device_describe(0, text, sizeof text) != DART_OK) stop(path + ": " + text);
  return library;
}

void require(const Library &library, int status, const char *what) {
  if (status != DART_OK) stop(std::string(what) + " returned " + std::to_string(status) + ": " + library.dart_last_error());
}

}  // namespace check
