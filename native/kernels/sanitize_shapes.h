/* The random inputs of sanitize_check.cc: the same ones on every run. */
#ifndef DART_SANITIZE_SHAPES_H
#define DART_SANITIZE_SHAPES_H

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "cpu/types.h"

namespace dart {

constexpr char kPoisonByte = 0x5a;
constexpr float kPoison = -7.25e8f;

inline std::unique_ptr<char[]> exact_filled(int64_t bytes) {
  std::unique_ptr<char[]> memory(new char[bytes]);
  std::memset(memory.get(), kPoisonByte, bytes);
  return memory;
}

inline std::unique_ptr<char[]> exact_copy(const char *from, int64_t bytes) {
  auto memory = exact_filled(bytes);
  if (bytes > 0) std::memcpy(memory.get(), from, bytes);
  return memory;
}

class Dice {
 public:
  explicit Dice(int seed) : engine_(seed) {}
  int64_t integer(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1)); }
  bool one_in(int64_t n) { return integer(1, n) == 1; }
  float number(float low, float high) { return low + (high - low) * static_cast<float>(engine_() >> 40) * 0x1p-24f; }

 private:
  std::mt19937_64 engine_;
};

/* Arguments of one dart_policy_loss call with everything switched on or off at random, without its outputs. */
struct Shape {
  int number;
  dart_policy_loss_args args{};
  std::vector<char> logits;
  std::vector<int32_t> target, offsets;
  std::vector<uint8_t> mask;
  std::vector<float> scale, advantage, old_logp, rollout_logp, ref_logp;

  explicit Shape(int seed) : number(seed) {
    Dice dice(seed);
    fill(dice, dice.integer(0, 9), dice.one_in(4) ? dice.integer(1, 40) : dice.integer(1, 2100));
  }

  /* As much as goes around the caches, in rows of many blocks. */
  static Shape large() {
    Shape shape(0);
    Dice dice(1);
    shape.number = 1000;
    shape.fill(dice, 3, (int64_t{1} << 23) / 3 + 7);
    shape.args.loss = DART_GRPO, shape.args.tis_level = DART_TOKEN, shape.args.entropy_coefficient = 0;
    shape.args.dlogits_stride = shape.args.logits_stride;
    return shape;
  }

  int64_t elements(int64_t stride) const { return args.rows == 0 ? 0 : (args.rows - 1) * stride + args.vocabulary; }
  bool can_be_in_place() const { return args.logits_type == args.dlogits_type && args.logits_stride == args.dlogits_stride; }

  float logit(int64_t row, int64_t j) const {
    return with_type(args.logits_type, [&]<typename T>(T *) { return to_float(reinterpret_cast<const T *>(logits.data())[row * args.logits_stride + j]); });
  }
  bool scored(int64_t row) const { return target[row] >= 0 && (args.mask == nullptr || mask[row] != 0) && logit(row, target[row]) != -INFINITY; }
  bool broken(int64_t row) const {
    for (int64_t j = 0; j < args.vocabulary; j++)
      if (logit(row, j) == INFINITY || std::isnan(logit(row, j))) return true;
    return false;
  }

 private:
  void fill(Dice &dice, int64_t rows, int64_t vocabulary) {
    args.rows = rows, args.vocabulary = vocabulary;
    args.logits_stride = vocabulary + (dice.one_in(3) ? dice.integer(1, 20) : 0);
    args.dlogits_stride = dice.one_in(3) ? vocabulary + dice.integer(0, 20) : args.logits_stride;
    args.logits_type = static_cast<int32_t>(number == 1000 ? 0 : dice.integer(0, 2));
    args.dlogits_type = dice.one_in(3) && number != 1000 ? static_cast<int32_t>(dice.integer(0, 2)) : args.logits_type;
    fill_logits(dice);
    target.resize(rows), mask.resize(rows), scale.resize(rows), advantage.resize(rows);
    old_logp.resize(rows), rollout_logp.resize(rows), ref_logp.resize(rows);
    const auto logp = [&] { return dice.one_in(12) ? NAN : dice.number(-9, 0); };
    for (int64_t row = 0; row < rows; row++) {
      target[row] = dice.one_in(8) ? -1 : static_cast<int32_t>(dice.integer(0, vocabulary - 1));
      mask[row] = dice.one_in(6) ? 0 : 1;
      scale[row] = dice.number(0, 1), advantage[row] = dice.number(-2, 2);
      old_logp[row] = logp(), rollout_logp[row] = logp(), ref_logp[row] = logp();
    }
    fill_options(dice);
  }

  void fill_logits(Dice &dice) {
    logits.assign(elements(args.logits_stride) * width_of(args.logits_type), kPoisonByte);
    const float size = dice.one_in(4) ? 30.0f : 4.0f;
    with_type(args.logits_type, [&]<typename T>(T *) {
      for (int64_t row = 0; row < args.rows; row++) {
        T *to = reinterpret_cast<T *>(logits.data()) + row * args.logits_stride;
        const bool holes = dice.one_in(3);
        for (int64_t j = 0; j < args.vocabulary; j++) from_float(holes && dice.one_in(5) ? -INFINITY : dice.number(-size, size), to + j);
        if (dice.one_in(25)) from_float(dice.one_in(2) ? NAN : INFINITY, to + dice.integer(0, args.vocabulary - 1));
      }
    });
  }

  void fill_options(Dice &dice) {
    args.target = target.data(), args.scale = scale.data();
    args.mask = dice.one_in(3) ? nullptr : mask.data();
    args.advantage = dice.one_in(4) ? nullptr : advantage.data();
    args.old_logp = dice.one_in(3) ? nullptr : old_logp.data();
    args.rollout_logp = dice.one_in(3) ? nullptr : rollout_logp.data();
    args.ref_logp = dice.one_in(2) ? nullptr : ref_logp.data();
    args.loss = static_cast<int32_t>(dice.integer(DART_GRPO, DART_SFT));
    args.tis_level = static_cast<int32_t>(dice.integer(DART_TOKEN, DART_SEQUENCE));
    args.tis_mode = static_cast<int32_t>(dice.integer(DART_TRUNCATE, DART_MASK));
    args.kl = static_cast<int32_t>(dice.integer(DART_K1, DART_K3));
    args.temperature = dice.one_in(2) ? 1.0 : dice.number(0.3f, 2);
    args.clip_low = 0.2, args.clip_high = 0.28;
    args.dual_clip = dice.one_in(2) ? 0 : 3;
    args.tis_cap = dice.one_in(2) ? 0 : 1.5;
    args.kl_beta = dice.one_in(2) ? 0 : 0.1;
    args.entropy_coefficient = dice.one_in(3) ? 0.02 : 0;
    const int64_t cut = dice.integer(0, args.rows);
    offsets = {0, static_cast<int32_t>(cut), static_cast<int32_t>(cut), static_cast<int32_t>(args.rows)};
    args.sequences = 3, args.sequence_offsets = offsets.data();
  }
};

/* One tensor of the optimiser, of random size and types. */
struct Weights {
  dart_adamw_args args{};
  std::vector<char> parameter, gradient;
  std::vector<float> first, second, master;
  double totals[2] = {0, 0};

  explicit Weights(int seed) {
    Dice dice(seed);
    args.size = dice.one_in(2) ? dice.integer(0, 40) : dice.integer(60'000, 70'000);
    args.parameter_type = static_cast<int32_t>(dice.integer(DART_F32, DART_BF16));
    args.gradient_type = static_cast<int32_t>(dice.integer(DART_F32, DART_F16));
    args.step = 3, args.learning_rate = 0.01, args.beta1 = 0.9, args.beta2 = 0.95, args.epsilon = 1e-8, args.weight_decay = 0.1;
    args.gradient_scale = 0.5, args.max_grad_norm = 1;
    parameter.resize(args.size * width_of(args.parameter_type)), gradient.resize(args.size * width_of(args.gradient_type));
    first.resize(args.size), second.resize(args.size), master.resize(dice.one_in(2) ? args.size : 0);
    for (int64_t i = 0; i < args.size; i++) {
      put(parameter, args.parameter_type, i, dice.number(-1, 1)), put(gradient, args.gradient_type, i, dice.number(-1, 1));
      first[i] = dice.number(-0.1f, 0.1f), second[i] = dice.number(0.01f, 0.1f);
      if (!master.empty()) master[i] = get(parameter, args.parameter_type, i);
    }
  }

  void step() {
    const auto workspace = exact_filled(dart_gradient_norm_workspace(args.size));
    const dart_gradient_norm_args norm = {args.size, gradient.data(), totals, totals + 1, workspace.get(), nullptr, args.gradient_type};
    args.parameter = parameter.data(), args.gradient = gradient.data(), args.first_moment = first.data(), args.second_moment = second.data();
    args.master = master.empty() ? nullptr : master.data(), args.sum_of_squares = totals, args.nonfinite = totals + 1;
    if (dart_gradient_norm(&norm) != DART_OK || dart_adamw(&args) != DART_OK) totals[0] = NAN;
  }

  bool same_as(const Weights &other) const {
    return parameter == other.parameter && first == other.first && second == other.second && master == other.master && totals[0] == other.totals[0];
  }

  /* Greatest difference of a weight, of a moment, or of the norm. */
  double apart(const Weights &other) const {
    double most = std::fabs(totals[0] - other.totals[0]) / std::fmax(1, totals[0]);
    for (int64_t i = 0; i < args.size; i++) {
      most = std::fmax(most, std::fabs(get(parameter, args.parameter_type, i) - get(other.parameter, args.parameter_type, i)));
      most = std::fmax(most, std::fmax(std::fabs(first[i] - other.first[i]), std::fabs(second[i] - other.second[i])));
      if (!master.empty() && std::fabs(master[i] - other.master[i]) > 1e-6) return 1; /* finer than a bf16 weight */
    }
    return most;
  }

 private:
  static void put(std::vector<char> &array, int32_t type, int64_t i, float value) {
    with_type(type, [&]<typename T>(T *) { from_float(value, reinterpret_cast<T *>(array.data()) + i); });
  }
  static float get(const std::vector<char> &array, int32_t type, int64_t i) {
    return with_type(type, [&]<typename T>(T *) { return to_float(reinterpret_cast<const T *>(array.data())[i]); });
  }
};

}  // namespace dart

#endif
