#include "backend.h"

#include <dlfcn.h>

#include <mutex>

namespace dart {
namespace {

struct Loaded {
  Backend table{};
  bool usable = false;
  std::string text;
};

/* Fills the table; false and the missing name in `text` when a symbol is absent. */
bool resolve(void *library, Loaded *loaded) {
#define DART_RESOLVE(name)                                                                     \
  loaded->table.name = reinterpret_cast<decltype(loaded->table.name)>(dlsym(library, #name)); \
  if (loaded->table.name == nullptr) {                                                         \
    loaded->text = "the CUDA kernels lack " #name ": rebuild them";                            \
    return false;                                                                              \
  }
  DART_EACH_KERNEL(DART_RESOLVE)
#undef DART_RESOLVE
  return true;
}

/* Opens the library. It is never closed: a CUDA context does not survive that. */
Loaded open_library(const std::string &path) {
  Loaded loaded;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.text = "the CUDA kernels are not built (no nvcc when the addon was built)";
    if (const char *reason = dlerror(); reason != nullptr && std::string(reason).find("No such file") == std::string::npos) loaded.text = reason;
    return loaded;
  }
  if (!resolve(library, &loaded)) return loaded;
  loaded.table.on_device = true;
  if (const int abi = loaded.table.dart_kernels_abi(); abi != DART_KERNELS_ABI) {
    loaded.text = "the CUDA kernels have interface " + std::to_string(abi) + ", the addon " + std::to_string(DART_KERNELS_ABI) + ": rebuild them";
    return loaded;
  }
  loaded.usable = true;
  return loaded;
}

}  // namespace

const Backend &cpu_backend() {
  static const Backend table = {
#define DART_VALUE(name) ::name,
      DART_EACH_KERNEL(DART_VALUE)
#undef DART_VALUE
      false,
  };
  return table;
}

/* The library at the path, opened once; it lives as long as the process: worker threads come and go. */
static const Loaded &library_at(const std::string &path) {
  static std::mutex guard;
  static Loaded *loaded = nullptr;
  const std::lock_guard<std::mutex> lock(guard);
  if (loaded == nullptr) loaded = new Loaded(open_library(path));
  return *loaded;
}

const Backend *cuda_device(const std::string &library, int device, std::string *text) {
  const Loaded &loaded = library_at(library);
  *text = loaded.text;
  if (!loaded.usable) return nullptr;
  const int count = loaded.table.dart_device_count();
  if (count > 0 && device >= count) {
    *text = "there is no cuda:" + std::to_string(device) + ", this machine has " + std::to_string(count);
    return nullptr;
  }
  char name[256] = "";
  const bool found = loaded.table.dart_device_describe(device, name, sizeof name) == DART_OK;
  *text = name;
  return found ? &loaded.table : nullptr;
}

}  // namespace dart
