/*
 * check_kernels LIBRARY: holds every function of a library with the interface of dart_kernels.h to a float64 reference
 * of its own, on fresh random inputs; with --time measures it beside the library's own copy. Needs nothing but the
 * library. Exit code 1 on a miss, 2 when it cannot run.
 */
#include <algorithm>
#include <cstdio>
#include <random>

#include "checks.h"
#include "timing.h"

namespace {

const char *const kUsage =
    "usage: check_kernels LIBRARY [--quick] [--seed N] [--threads N] [--instructions NAME] [--misses] [--every N]\n"
    "       check_kernels LIBRARY --time [--quick] [--records FILE]\n"
    "  --quick         small shapes only\n"
    "  --misses        print only cases that are not OK\n"
    "  --every N       only each Nth policy loss\n"
    "  --instructions  auto, scalar, avx2, avx512 or neon (CPU)\n"
    "  --records FILE  append metric records\n";

[[noreturn]] void usage(const std::string &problem) {
  std::fprintf(stderr, "check_kernels: %s\n%s", problem.c_str(), kUsage);
  std::exit(2);
}

struct Arguments {
  std::string library, instructions = "auto", records;
  check::Settings settings;
  int threads = 0;
  bool time = false, misses = false;
};

long long whole_number(const std::string &name, const std::string &text) {
  char *end;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0) usage(name + " takes a whole number, got '" + text + "'");
  return value;
}

Arguments parse(int count, char **words) {
  Arguments out;
  out.settings.seed = std::random_device{}();
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string { return i + 1 < count ? words[++i] : (usage(word + " takes a value"), ""); };
    if (word == "--quick") out.settings.quick = true;
    else if (word == "--time") out.time = true;
    else if (word == "--misses") out.misses = true;
    else if (word == "--seed") out.settings.seed = static_cast<uint64_t>(whole_number(word, value()));
    else if (word == "--every") out.settings.every = std::max(1LL, whole_number(word, value()));
    else if (word == "--threads") out.threads = static_cast<int>(whole_number(word, value()));
    else if (word == "--instructions") out.instructions = value();
    else if (word == "--records") out.records = value();
    else if (word.rfind("--", 0) == 0 || !out.library.empty()) usage("unknown argument " + word);
    else out.library = word;
  }
  if (out.library.empty()) usage("which library?");
  return out;
}

}  // namespace

int main(int count, char **words) {
  const Arguments arguments = parse(count, words);
  const check::Library library = check::open_library(arguments.library);
  check::require(library, library.dart_device_set(0), "dart_device_set");
  check::require(library, library.dart_set_threads(arguments.threads), "dart_set_threads");
  check::require(library, library.dart_set_instructions(arguments.instructions.c_str()), "dart_set_instructions");
  char device[256] = "";
  check::require(library, library.dart_device_describe(0, device, sizeof device), "dart_device_describe");
  std::printf("%s; instructions %s, threads %d\n", device, library.dart_instructions(), library.dart_threads());
  if (arguments.time) return check::time_kernels(library, arguments.settings.quick, arguments.records);
  std::printf("seed %llu\n", static_cast<unsigned long long>(arguments.settings.seed));
  check::Report report(arguments.misses);
  check::check_policy_loss(library, arguments.settings, report);
  check::check_logp_entropy(library, arguments.settings, report);
  check::check_steps(library, arguments.settings, report);
  check::check_optimizer(library, arguments.settings, report);
  check::check_preferences(library, arguments.settings, report);
  check::check_refusals(library, report);
  return report.print() == 0 ? 0 : 1;
}
