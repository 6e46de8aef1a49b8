/* Which table of inner loops the process uses: the widest that the machine has, unless one was asked for by name. */
#include "instructions.h"

#include <atomic>
#include <cstring>
#include <string>

#include "error.h"

namespace dart {
namespace {

/* Widest first; the last is always there. */
constexpr const Instructions *kTables[] = {
#if defined(__x86_64__)
    &kAvx512,
    &kAvx2,
#endif
#if defined(__aarch64__)
    &kNeon,
#endif
    &kScalar,
};

const Instructions *widest() {
  for (const Instructions *table : kTables)
    if (table->available()) return table;
  return &kScalar;
}

std::atomic<const Instructions *> &chosen() {
  static std::atomic<const Instructions *> table = widest();
  return table;
}

std::string available_names() {
  std::string names = "auto";
  for (const Instructions *table : kTables)
    if (table->available()) names += std::string(", ") + table->name;
  return names;
}

}  // namespace

const Instructions &instructions() { return *chosen().load(std::memory_order_relaxed); }

}  // namespace dart

extern "C" const char *dart_instructions(void) { return dart::instructions().name; }

extern "C" int dart_set_instructions(const char *name) {
  if (name != nullptr && std::strcmp(name, "auto") == 0) {
    dart::chosen() = dart::widest();
    return DART_OK;
  }
  for (const dart::Instructions *table : dart::kTables) {
    if (name == nullptr || std::strcmp(name, table->name) != 0 || !table->available()) continue;
    dart::chosen() = table;
    return DART_OK;
  }
  const std::string reason = "this machine has the instructions " + dart::available_names() + ", not " + (name == nullptr ? "NULL" : name);
  return dart::fail(DART_BAD_ARGUMENT, reason.c_str());
}
