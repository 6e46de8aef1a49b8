/*
 * Runs every CPU kernel over arrays of exactly the size that they need, each on the heap, so that a memory checker sees
 * any access beside them and any use of what was never written; a thousand calls, so that what each leaves behind shows.
 * native/memory.test.ts runs it under valgrind.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "dart_kernels.h"

namespace {

template <typename T>
std::unique_ptr<T[]> filled(int64_t size, T first, T second) {
  std::unique_ptr<T[]> values(new T[size]);
  for (int64_t i = 0; i < size; i++) values[i] = i % 2 == 0 ? first : second;
  return values;
}

template <typename T>
std::unique_ptr<T[]> blank(int64_t size) {
  return std::unique_ptr<T[]>(new T[size]);
}

/* A branch on every byte of the result: the checker objects to bytes that were never written. */
template <typename T>
void use(const T *values, int64_t size) {
  static volatile int sink;
  const auto *bytes = reinterpret_cast<const unsigned char *>(values);
  for (int64_t i = 0; i < size * static_cast<int64_t>(sizeof(T)); i++)
    if (bytes[i] == 7) sink = sink + 1;
}

int calls = 0;

void require(int status) {
  calls++;
  if (status == DART_OK) return;
  std::fprintf(stderr, "%s\n", dart_last_error());
  std::exit(1);
}

template <typename T>
void policy_loss(int64_t rows, int64_t vocabulary, int32_t type, int32_t loss, int32_t level) {
  const auto logits = filled<T>(rows * vocabulary, T(1), T(2));
  const auto dlogits = blank<T>(rows * vocabulary);
  const auto target = filled<int32_t>(rows, 0, static_cast<int32_t>(vocabulary - 1));
  const auto mask = filled<uint8_t>(rows, 1, 1);
  mask[0] = 0;
  const auto numbers = filled<float>(rows, -0.5f, -1.5f);
  const auto offsets = blank<int32_t>(3);
  offsets[0] = 0, offsets[1] = 1, offsets[2] = static_cast<int32_t>(rows);
  std::unique_ptr<float[]> out[5];
  for (auto &array : out) array = blank<float>(rows);
  const auto statistics = blank<dart_policy_statistics>(1);

  dart_policy_loss_args args;
  std::memset(&args, 0, sizeof args);
  args.rows = rows, args.vocabulary = vocabulary;
  args.logits = logits.get(), args.dlogits = dlogits.get();
  args.logits_stride = args.dlogits_stride = vocabulary;
  args.logits_type = args.dlogits_type = type;
  args.target = target.get(), args.mask = mask.get(), args.scale = args.advantage = numbers.get();
  args.old_logp = args.rollout_logp = args.ref_logp = numbers.get();
  args.sequences = 2, args.sequence_offsets = offsets.get();
  args.temperature = 0.7, args.clip_low = 0.2, args.clip_high = 0.28, args.dual_clip = 3, args.tis_cap = 1;
  args.kl_beta = 0.1, args.kl = DART_K3, args.entropy_coefficient = 0.01;
  args.loss = loss, args.tis_level = level;
  args.logp = out[0].get(), args.entropy = out[1].get(), args.ratio = out[2].get();
  args.weight = out[3].get(), args.token_loss = out[4].get();
  args.statistics = statistics.get();
  const auto workspace = blank<char>(dart_policy_loss_workspace(rows));
  args.workspace = workspace.get();
  require(dart_policy_loss(&args));
  use(dlogits.get(), rows * vocabulary);
  for (const auto &array : out) use(array.get(), rows);
  use(statistics.get(), 1);

  dart_logp_entropy_args plain;
  std::memset(&plain, 0, sizeof plain);
  plain.rows = rows, plain.vocabulary = vocabulary, plain.logits = logits.get(), plain.logits_stride = vocabulary;
  plain.logits_type = type, plain.target = target.get(), plain.temperature = 1;
  const auto logp = blank<float>(rows), entropy = blank<float>(rows);
  plain.logp = logp.get(), plain.entropy = entropy.get();
  require(dart_logp_entropy(&plain));
  use(logp.get(), rows);
  use(entropy.get(), rows);
}

void steps() {
  const auto tokens = filled<float>(7, 1.0f, 2.0f);
  const auto offsets = blank<int32_t>(4);
  offsets[0] = 0, offsets[1] = 3, offsets[2] = 3, offsets[3] = 7;
  const auto entropy = blank<double>(3), threshold = blank<double>(2);
  const auto group = filled<int32_t>(3, 0, 1);
  const auto selected = blank<uint8_t>(3);
  const dart_step_entropy_args first = {3, tokens.get(), nullptr, offsets.get(), entropy.get(), nullptr};
  require(dart_step_entropy(&first));
  const dart_select_steps_args second = {3, 2, entropy.get(), group.get(), 0.8, threshold.get(), selected.get(), nullptr};
  require(dart_select_steps(&second));
  use(threshold.get(), 2);
  use(selected.get(), 3);
}

void optimiser(int64_t size) {
  const auto parameter = filled<float>(size, 1.0f, 2.0f), gradient = filled<float>(size, 0.1f, 0.2f);
  const auto first = filled<float>(size, 0.0f, 0.0f), second = filled<float>(size, 0.0f, 0.0f);
  const auto totals = filled<double>(2, 0.0, 0.0);
  dart_gradient_norm_args norm{};
  norm.size = size, norm.gradient = gradient.get(), norm.sum_of_squares = totals.get(), norm.nonfinite = totals.get() + 1;
  const auto workspace = blank<char>(dart_gradient_norm_workspace(size));
  norm.workspace = workspace.get();
  require(dart_gradient_norm(&norm));
  dart_adamw_args step{};
  step.size = size, step.parameter = parameter.get(), step.gradient = gradient.get();
  step.first_moment = first.get(), step.second_moment = second.get();
  step.step = 1, step.learning_rate = 0.01, step.beta1 = 0.9, step.beta2 = 0.999, step.epsilon = 1e-8, step.weight_decay = 0.1;
  step.gradient_scale = 1, step.sum_of_squares = totals.get(), step.nonfinite = totals.get() + 1, step.max_grad_norm = 0.5;
  require(dart_adamw(&step));
  use(parameter.get(), size);
  use(totals.get(), 2);
}

void preferences() {
  const auto numbers = filled<double>(3, -1.0, -2.0), slopes = blank<double>(3), others = blank<double>(3), loss = blank<double>(1);
  const auto desirable = filled<uint8_t>(3, 1, 0);
  const dart_dpo_args pairs = {3, numbers.get(), numbers.get(), numbers.get(), numbers.get(), 0.1, loss.get(), slopes.get(), others.get(), nullptr};
  require(dart_dpo(&pairs));
  use(slopes.get(), 3);
  use(others.get(), 3);
  const dart_kto_args sequences = {3, numbers.get(), numbers.get(), desirable.get(), 0.1, 0.0, 1.0, 1.0, loss.get(), slopes.get(), nullptr};
  require(dart_kto(&sequences));
  use(slopes.get(), 3);
  use(loss.get(), 1);
}

/* Each kernel over small arrays: one thread. */
void every_kernel() {
  for (const int64_t vocabulary : {1, 2, 15, 16, 17, 1024, 1031}) {
    policy_loss<float>(5, vocabulary, DART_F32, DART_GRPO, DART_TOKEN);
    policy_loss<float>(5, vocabulary, DART_F32, DART_GSPO, DART_SEQUENCE);
    policy_loss<uint16_t>(5, vocabulary, DART_BF16, DART_CISPO, DART_TOKEN);
    policy_loss<uint16_t>(5, vocabulary, DART_F16, DART_SFT, DART_TOKEN);
  }
  steps();
  for (const int64_t size : {1, 15, 16, 33}) optimiser(size);
  preferences();
}

}  // namespace

int main() {
  require(dart_set_threads(3));
  policy_loss<float>(5, 40'000, DART_F32, DART_GRPO, DART_TOKEN); /* large enough for the pool */
  while (calls < 1000) every_kernel();
  require(dart_set_threads(1)); /* joins the pool: a sleeping thread counts as memory that nobody can free */
  std::puts("every kernel ran");
  return 0;
}
