#include "timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "numbers.h"

namespace check {
namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/* Plain memory of the library, without guards; null when there is not enough. */
class Memory {
 public:
  Memory(const Library &library, int64_t bytes) : library_(library) {
    if (library.dart_device_allocate(&memory_, bytes) != DART_OK) memory_ = nullptr;
  }
  ~Memory() {
    if (memory_ != nullptr) library_.dart_device_free(memory_);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  explicit operator bool() const { return memory_ != nullptr; }
  template <typename T>
  T *as() const {
    return static_cast<T *>(memory_);
  }

 private:
  const Library &library_;
  void *memory_ = nullptr;
};

class Stopwatch {
 public:
  Stopwatch(const Library &library, bool quick) : library_(library), budget_(quick ? 0.02 : 0.6) {}

  /* Median seconds of a call until the device is done; `before` is not counted. */
  double median(const std::function<void()> &before, const std::function<int()> &call) const {
    std::vector<double> times;
    for (double end = 0; times.size() < 4 || seconds() < end;) {
      before();
      synchronize();
      const double start = seconds();
      require(library_, call(), "a kernel");
      synchronize();
      times.push_back(seconds() - start);
      if (times.size() == 1) end = seconds() + budget_;
    }
    times.erase(times.begin()); /* the warm-up */
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

 private:
  void synchronize() const { require(library_, library_.dart_device_synchronize(), "dart_device_synchronize"); }
  const Library &library_;
  double budget_;
};

/* Measured lines: a table for people, metric records for programs. */
class Timings {
 public:
  Timings(const std::string &records) : file_(records.empty() ? nullptr : std::fopen(records.c_str(), "a")) {
    std::printf("%-16s  %-44s  %10s  %10s  %12s\n", "kernel", "shape", "ms", "GB/s", "share of copy");
  }
  ~Timings() {
    if (file_ != nullptr) std::fclose(file_);
  }
  void add(const std::string &kernel, const std::string &shape, double time, double bytes, double copy) {
    const double rate = bytes / time;
    std::printf("%-16s  %-44s  %10.3f  %10.1f  %12.2f\n", kernel.c_str(), shape.c_str(), 1e3 * time, rate / 1e9, rate / copy);
    std::fflush(stdout);
    if (file_ == nullptr) return;
    std::fprintf(file_, "{\"type\":\"metric\",\"v\":1,\"name\":\"%s/%s\",\"value\":%.6g,\"unit\":\"ms\"}\n", kernel.c_str(), shape.c_str(), 1e3 * time);
    std::fprintf(file_, "{\"type\":\"metric\",\"v\":1,\"name\":\"%s/%s/bandwidth\",\"value\":%.6g,\"unit\":\"GB/s\",\"against\":\"copy\",\"ratio\":%.4g}\n",
                 kernel.c_str(), shape.c_str(), rate / 1e9, rate / copy);
  }

 private:
  std::FILE *file_;
};

/* Fills memory with a block of random logits again and again. */
void fill_logits(const Library &library, void *memory, int64_t count, int32_t type) {
  Random random(7);
  const int64_t block = std::min<int64_t>(count, int64_t{1} << 20);
  std::vector<unsigned char> values(block * bytes_of(type));
  for (int64_t i = 0; i < block; i++) put(values.data(), i, 2 * random.normal(), type);
  for (int64_t at = 0; at < count; at += block)
    require(library, library.dart_device_copy(static_cast<char *>(memory) + at * bytes_of(type), values.data(), std::min(block, count - at) * bytes_of(type), DART_TO_DEVICE),
            "dart_device_copy");
}

struct Shape {
  int64_t rows, vocabulary;
  int32_t type;
  int64_t bytes() const { return rows * vocabulary * bytes_of(type); }
  std::string text() const { return "N " + std::to_string(rows) + " V " + std::to_string(vocabulary) + " " + name_of(type); }
};

/* A matrix of logits that each call may overwrite, and its untouched original. */
struct Matrices {
  Matrices(const Library &library, const Shape &shape) : original(library, shape.bytes()), work(library, shape.bytes()) {}
  explicit operator bool() const { return original && work; }
  Memory original, work;
};

/* Halves the rows until both matrices fit. */
std::unique_ptr<Matrices> fitting(const Library &library, Shape &shape) {
  for (; shape.rows > 0; shape.rows /= 2) {
    auto matrices = std::make_unique<Matrices>(library, shape);
    if (!*matrices) continue;
    fill_logits(library, matrices->original.as<void>(), shape.rows * shape.vocabulary, shape.type);
    return matrices;
  }
  return nullptr;
}

enum class Variant { plain, entropy, half_masked, gspo };

void time_rows(const Library &library, Shape shape, const Stopwatch &watch, Timings &timings) {
  const auto matrices = fitting(library, shape);
  if (matrices == nullptr) return;
  const double size = static_cast<double>(shape.bytes()), rows = static_cast<double>(shape.rows);
  const auto restore = [&] {
    require(library, library.dart_device_copy(matrices->work.as<void>(), matrices->original.as<void>(), shape.bytes(), DART_ON_DEVICE), "dart_device_copy");
  };
  const double copy = 2 * size / watch.median([] {}, [&] { return restore(), DART_OK; });
  timings.add("copy", shape.text(), 2 * size / copy, 2 * size, copy);

  std::vector<int32_t> targets, offsets;
  std::vector<uint8_t> alternate;
  for (int64_t t = 0; t < shape.rows; t++) targets.push_back(static_cast<int32_t>(t * 37 % shape.vocabulary)), alternate.push_back(t / 4 % 2 ? 0 : 1);
  for (int64_t t = 0; t < shape.rows; t += 64) offsets.push_back(static_cast<int32_t>(t));
  offsets.push_back(static_cast<int32_t>(shape.rows));
  Array<int32_t> target(library, targets), place(library, offsets);
  Array<uint8_t> mask(library, alternate);
  Array<float> scale(library, std::vector<float>(shape.rows, 1.0f / static_cast<float>(rows))), advantage(library, std::vector<float>(shape.rows, 0.5f));
  Array<float> old_logp(library, std::vector<float>(shape.rows, -12)), out(library, 5 * shape.rows);
  Array<dart_policy_statistics> statistics(library, 1);
  Memory workspace(library, library.dart_policy_loss_workspace(shape.rows));
  dart_policy_loss_args args{};
  args.rows = shape.rows, args.vocabulary = shape.vocabulary, args.logits = args.dlogits = matrices->work.as<void>();
  args.logits_stride = args.dlogits_stride = shape.vocabulary, args.logits_type = args.dlogits_type = shape.type;
  args.target = target.get(), args.scale = scale.get(), args.advantage = advantage.get();
  args.old_logp = args.rollout_logp = args.ref_logp = old_logp.get();
  args.sequences = static_cast<int64_t>(offsets.size()) - 1, args.sequence_offsets = place.get();
  args.temperature = 1, args.tis_cap = 1, args.kl_beta = 0.1, args.kl = DART_K3;
  args.logp = out.get(), args.entropy = out.get() + shape.rows, args.ratio = out.get() + 2 * shape.rows, args.weight = out.get() + 3 * shape.rows;
  args.token_loss = out.get() + 4 * shape.rows, args.statistics = statistics.get(), args.workspace = workspace.as<void>();
  const auto measure = [&](const char *name, Variant variant, double bytes) {
    args.mask = variant == Variant::half_masked ? mask.get() : nullptr;
    args.loss = variant == Variant::gspo ? DART_GSPO : DART_GRPO;
    args.clip_low = variant == Variant::gspo ? 3e-4 : 0.2, args.clip_high = variant == Variant::gspo ? 4e-4 : 0.28;
    args.entropy_coefficient = variant == Variant::entropy ? 0.01 : 0;
    timings.add("policy_loss", shape.text() + name, watch.median(restore, [&] { return library.dart_policy_loss(&args); }), bytes, copy);
  };
  measure(", dart", Variant::plain, 2 * size);
  measure(", dart, entropy bonus", Variant::entropy, 2 * size);
  double kept = 0;
  for (const uint8_t m : alternate) kept += m;
  measure(", dart, half masked", Variant::half_masked, (1 + kept / rows) * size);
  measure(", gspo", Variant::gspo, 3 * size);

  dart_logp_entropy_args forward{};
  forward.rows = shape.rows, forward.vocabulary = shape.vocabulary, forward.logits = matrices->original.as<void>(), forward.logits_stride = shape.vocabulary;
  forward.logits_type = shape.type, forward.target = target.get(), forward.temperature = 1, forward.logp = out.get(), forward.entropy = out.get() + shape.rows;
  timings.add("logp_entropy", shape.text(), watch.median([] {}, [&] { return library.dart_logp_entropy(&forward); }), size, copy);
}

/* Bytes that an update must move: docs/kernels.md. */
void time_adamw(const Library &library, int64_t size, int32_t type, const Stopwatch &watch, Timings &timings) {
  const bool master = type == DART_BF16;
  const double count = static_cast<double>(size);
  Memory parameter(library, size * bytes_of(type)), gradient(library, size * bytes_of(type)), first(library, 4 * size), second(library, 4 * size), weights(library, 4 * size);
  Memory workspace(library, library.dart_gradient_norm_workspace(size));
  if (!parameter || !gradient || !first || !second || !weights) {
    if (size > 1000000) time_adamw(library, size / 2, type, watch, timings);
    return;
  }
  fill_logits(library, parameter.as<void>(), size, type);
  fill_logits(library, gradient.as<void>(), size, type);
  for (const Memory *memory : {&first, &second, &weights}) {
    const std::vector<float> block(1 << 20, 0.1f);
    for (int64_t at = 0; at < size; at += 1 << 20)
      require(library, library.dart_device_copy(memory->as<float>() + at, block.data(), 4 * std::min<int64_t>(1 << 20, size - at), DART_TO_DEVICE), "dart_device_copy");
  }
  const double copy = 8 * count / watch.median([] {}, [&] { return library.dart_device_copy(weights.as<void>(), first.as<void>(), 4 * size, DART_ON_DEVICE); });
  Array<double> total(library, std::vector<double>{4}), nonfinite(library, std::vector<double>{0});
  dart_adamw_args args{};
  args.size = size, args.parameter = parameter.as<void>(), args.parameter_type = type, args.gradient = gradient.as<void>(), args.gradient_type = type;
  args.first_moment = first.as<float>(), args.second_moment = second.as<float>(), args.master = master ? weights.as<float>() : nullptr;
  args.step = 10, args.learning_rate = 1e-6, args.beta1 = 0.9, args.beta2 = 0.95, args.epsilon = 1e-8, args.weight_decay = 0.01, args.gradient_scale = 1;
  args.sum_of_squares = total.get(), args.nonfinite = nonfinite.get(), args.max_grad_norm = 1;
  const std::string shape = "P " + std::to_string(size) + " " + name_of(type) + (master ? " + master" : "");
  timings.add("adamw", shape, watch.median([] {}, [&] { return library.dart_adamw(&args); }), 28 * count, copy);
  dart_gradient_norm_args norm{};
  norm.size = size, norm.gradient = gradient.as<void>(), norm.gradient_type = type, norm.sum_of_squares = total.get(), norm.nonfinite = nonfinite.get();
  norm.workspace = workspace.as<void>();
  timings.add("gradient_norm", shape, watch.median([] {}, [&] { return library.dart_gradient_norm(&norm); }), static_cast<double>(size * bytes_of(type)), copy);
}

}  // namespace

int time_kernels(const Library &library, bool quick, const std::string &records) {
  const bool gpu = std::string(library.dart_instructions()) == "cuda";
  const Stopwatch watch(library, quick);
  Timings timings(records);
  const std::vector<Shape> shapes = quick ? std::vector<Shape>{{8, 1024, DART_BF16}, {4, 1031, DART_F32}}
                                    : gpu ? std::vector<Shape>{{8192, 152064, DART_BF16}, {4096, 151936, DART_F32}}
                                          : std::vector<Shape>{{512, 32000, DART_F32}, {512, 32000, DART_BF16}, {256, 151936, DART_F32}, {256, 151936, DART_BF16}};
  for (const Shape &shape : shapes) time_rows(library, shape, watch, timings);
  for (const int32_t type : {DART_F32, DART_BF16}) time_adamw(library, quick ? 4096 : gpu ? 100000000 : 10000000, type, watch, timings);
  return 0;
}

}  // namespace check
