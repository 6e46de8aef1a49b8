/*
 * refuse_check LIBRARY: what an implementation of dart_kernels.h must refuse before it touches memory: its arguments are
 * good but for one thing at a time. native/refusals.test.ts runs it on both implementations.
 */
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "dart_kernels.h"

namespace {

void *library = nullptr;
int refusals = 0;

template <typename Function>
Function *function(const char *name) {
  auto *found = reinterpret_cast<Function *>(dlsym(library, name));
  if (found != nullptr) return found;
  std::fprintf(stderr, "there is no %s\n", name);
  std::exit(1);
}
#define KERNEL(name) function<decltype(name)>(#name)

/* The call's status, and that its words name what was wrong; "" where it must succeed. */
void expect(int status, const char *word) {
  const std::string said = status == DART_OK ? "" : KERNEL(dart_last_error)();
  const bool as_expected = *word == '\0' ? status == DART_OK : status == DART_BAD_ARGUMENT && said.find(word) != std::string::npos;
  refusals += *word == '\0' ? 0 : 1;
  if (as_expected) return;
  std::fprintf(stderr, "expected a refusal with '%s', got status %d: %s\n", word, status, said.c_str());
  std::exit(1);
}

alignas(16) char work[1 << 16];
float logits[4] = {1, 2, 3, 4}, scale[2] = {1, 1}, out[5][2];
int32_t target[2] = {0, 1};
dart_policy_statistics statistics;
double totals[2];

template <typename Change>
void policy(const char *word, Change change) {
  dart_policy_loss_args args{};
  args.rows = args.vocabulary = args.logits_stride = args.dlogits_stride = 2;
  args.logits = logits, args.target = target, args.scale = scale, args.statistics = &statistics;
  args.temperature = 1, args.kl = DART_K3, args.workspace = work;
  args.logp = out[0], args.entropy = out[1], args.ratio = out[2], args.weight = out[3], args.token_loss = out[4];
  change(args);
  expect(KERNEL(dart_policy_loss)(&args), word);
}

template <typename Change>
void norm(const char *word, Change change) {
  dart_gradient_norm_args args{};
  args.size = 4, args.gradient = logits, args.sum_of_squares = totals, args.nonfinite = totals + 1, args.workspace = work;
  change(args);
  expect(KERNEL(dart_gradient_norm)(&args), word);
}

template <typename Change>
void adamw(const char *word, Change change) {
  float parameter[4] = {}, first[4] = {}, second[4] = {};
  dart_adamw_args args{};
  args.size = 4, args.parameter = parameter, args.gradient = logits, args.first_moment = first, args.second_moment = second;
  args.step = 1, args.learning_rate = 0.1, args.beta1 = 0.9, args.beta2 = 0.99, args.epsilon = 1e-8, args.gradient_scale = 1;
  change(args);
  expect(KERNEL(dart_adamw)(&args), word);
}

void entropy(const char *word, double temperature) {
  dart_logp_entropy_args args{};
  args.rows = args.vocabulary = args.logits_stride = 2, args.logits = logits, args.target = target;
  args.temperature = temperature, args.logp = out[0], args.entropy = out[1];
  expect(KERNEL(dart_logp_entropy)(&args), word);
}

}  // namespace

int main(int, char **arguments) {
  library = dlopen(arguments[1], RTLD_NOW);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  policy("", [](dart_policy_loss_args &) {});
  policy("workspace is NULL", [](dart_policy_loss_args &a) { a.workspace = nullptr; });
  policy("16 bytes", [](dart_policy_loss_args &a) { a.workspace = work + 8; });
  policy("", [](dart_policy_loss_args &a) { a.rows = 0, a.workspace = nullptr; });
  norm("", [](dart_gradient_norm_args &) {});
  norm("workspace is NULL", [](dart_gradient_norm_args &a) { a.workspace = nullptr; });
  norm("16 bytes", [](dart_gradient_norm_args &a) { a.workspace = work + 4; });
  for (const double temperature : {0.0, -1.0, 1e-300, 9e-7, 2e6, 1e60, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    policy("temperature", [&](dart_policy_loss_args &a) { a.temperature = temperature; });
    entropy("temperature", temperature);
  }
  for (const double temperature : {1e-6, 1.0, 1e6}) entropy("", temperature);
  adamw("", [](dart_adamw_args &) {});
  for (const double epsilon : {0.0, 1e-60, -1e-8, 1e39, static_cast<double>(NAN)})
    adamw("epsilon", [&](dart_adamw_args &a) { a.epsilon = epsilon; });
  for (const double rate : {1e39, 1e38, -0.1, static_cast<double>(NAN)})
    adamw("learning_rate", [&](dart_adamw_args &a) { a.learning_rate = rate; });
  adamw("weight_decay", [](dart_adamw_args &a) { a.weight_decay = 1e300; });
  std::printf("refused %d calls\n", refusals);
  return 0;
}
