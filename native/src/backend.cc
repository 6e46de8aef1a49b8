#include "backend.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace dart {
namespace {

struct Loaded {
  Backend table{};
  bool usable = false;
  std::string text;
  std::mutex guard; /* of what follows */
  std::map<int, std::string> devices; /* those that were found, in words: asking again costs a query of the driver each call */
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

/* Why there is no file: nobody built it, or somebody named another one. */
std::string absence_of(const std::string &path) {
  const char *named = std::getenv("DART_CUDA_LIBRARY");
  if (named != nullptr && path == named) return "DART_CUDA_LIBRARY names " + path + ", which does not exist";
  return "the CUDA kernels are not built (no nvcc when the addon was built)";
}

/* Why the opened library cannot stand for the CUDA kernels; empty when it can. */
std::string objection_to(const Backend &table, const std::string &path) {
  if (const int abi = table.dart_kernels_abi(); abi != DART_KERNELS_ABI)
    return "the CUDA kernels have interface " + std::to_string(abi) + ", the addon " + std::to_string(DART_KERNELS_ABI) + ": rebuild them";
  /* The CPU kernels have the same functions, and name the instructions that they use. */
  return std::strcmp(table.dart_instructions(), "cuda") == 0 ? "" : path + " holds the CPU kernels, not those for CUDA";
}

/* Opens the library. It is never closed: a CUDA context does not survive that. */
void open_library(const std::string &path, Loaded *loaded) {
  if (access(path.c_str(), F_OK) != 0) {
    loaded->text = absence_of(path);
    return;
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *reason = dlerror();
    loaded->text = reason == nullptr ? "the CUDA kernels could not be opened" : reason;
    return;
  }
  if (!resolve(library, loaded)) return;
  loaded->table.on_device = true;
  loaded->text = objection_to(loaded->table, path);
  loaded->usable = loaded->text.empty();
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
static Loaded &library_at(const std::string &path) {
  static std::mutex guard;
  static auto *libraries = new std::map<std::string, Loaded>;
  const std::lock_guard<std::mutex> lock(guard);
  const auto [entry, is_new] = libraries->try_emplace(path);
  if (is_new) open_library(path, &entry->second);
  return entry->second;
}

/* Asks the library for the device; whether it is there, and it or the reason in words. */
static bool find_device(const Backend &table, int device, std::string *text) {
  const int count = table.dart_device_count();
  if (count > 0 && device >= count) {
    *text = "there is no cuda:" + std::to_string(device) + ", this machine has " + std::to_string(count);
    return false;
  }
  char name[256] = "";
  const bool found = table.dart_device_describe(device, name, sizeof name) == DART_OK;
  *text = name;
  return found;
}

const Backend *cuda_device(const std::string &library, int device, std::string *text) {
  Loaded &loaded = library_at(library);
  *text = loaded.text;
  if (!loaded.usable) return nullptr;
  const std::lock_guard<std::mutex> lock(loaded.guard);
  if (const auto known = loaded.devices.find(device); known != loaded.devices.end()) {
    *text = known->second;
    return &loaded.table;
  }
  if (!find_device(loaded.table, device, text)) return nullptr;
  loaded.devices.emplace(device, *text);
  return &loaded.table;
}

}  // namespace dart
