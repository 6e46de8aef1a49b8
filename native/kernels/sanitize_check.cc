/*
 * 1,000 random shapes through every CPU kernel, compiled with AddressSanitizer and UBSan (native/sanitizer.test.ts).
 * Arrays lie on the heap at exactly their size and outputs begin poisoned. Each shape runs with every set of
 * instructions that the machine has, on 1, 2 and 3 threads, separate and in place, and must give the same bytes each
 * time; the vector versions must agree with the scalar one.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/types.h"
#include "sanitize_shapes.h"

namespace dart {
namespace {

[[noreturn]] void give_up(const Shape &shape, const char *what, double got, double want) {
  std::fprintf(stderr, "shape %d (%s): %s: got %.9g, expected %.9g\n", shape.number, dart_instructions(), what, got, want);
  std::exit(1);
}

void require(const Shape &shape, bool holds, const char *what, double got, double want) {
  if (!holds) give_up(shape, what, got, want);
}

void succeed(int status) {
  if (status == DART_OK) return;
  std::fprintf(stderr, "%s\n", dart_last_error());
  std::exit(1);
}

/* What one run leaves, byte by byte. */
struct Result {
  std::vector<float> tokens[5]; /* logp, entropy, ratio, weight, token_loss */
  std::vector<char> dlogits;
  dart_policy_statistics statistics;
  std::vector<float> plain[2]; /* logp, entropy of dart_logp_entropy */
};

Result run(const Shape &shape, bool in_place) {
  Result out;
  const int64_t from = width_of(shape.args.logits_type), to = width_of(shape.args.dlogits_type);
  const auto logits = exact_copy(shape.logits.data(), shape.logits.size());
  const auto dlogits = exact_filled(shape.elements(shape.args.dlogits_stride) * to);
  const auto workspace = exact_filled(dart_policy_loss_workspace(shape.args.rows));
  for (auto &array : out.tokens) array.assign(shape.args.rows, kPoison);
  for (auto &array : out.plain) array.assign(shape.args.rows, kPoison);
  std::memset(&out.statistics, 0xab, sizeof out.statistics);

  dart_policy_loss_args args = shape.args;
  args.logits = logits.get();
  args.dlogits = in_place ? logits.get() : dlogits.get();
  args.workspace = workspace.get();
  args.logp = out.tokens[0].data(), args.entropy = out.tokens[1].data(), args.ratio = out.tokens[2].data();
  args.weight = out.tokens[3].data(), args.token_loss = out.tokens[4].data(), args.statistics = &out.statistics;
  const dart_logp_entropy_args plain = {
      args.rows,   args.vocabulary,       args.logits,           args.logits_stride, args.target,
      args.temperature, out.plain[0].data(), out.plain[1].data(), nullptr, args.logits_type,
  };
  succeed(dart_logp_entropy(&plain));
  succeed(dart_policy_loss(&args));
  const char *written = in_place ? logits.get() : dlogits.get();
  const int64_t stride = shape.args.dlogits_stride * (in_place ? from : to), used = shape.args.vocabulary * to;
  for (int64_t row = 0; row < shape.args.rows; row++) {
    out.dlogits.insert(out.dlogits.end(), written + row * stride, written + row * stride + used);
    if (row + 1 == shape.args.rows) break;
    const char *before = in_place ? shape.logits.data() : nullptr;
    for (int64_t i = row * stride + used; i < (row + 1) * stride; i++)
      require(shape, written[i] == (before != nullptr ? before[i] : kPoisonByte), "a byte between rows", written[i], 0);
  }
  return out;
}

/* NaN is the same as itself here. */
bool same_bits(const std::vector<float> &a, const std::vector<float> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) { return bits_of(x) == bits_of(y); });
}

void require_same(const Shape &shape, const Result &got, const Result &want, const char *what) {
  bool same = got.dlogits == want.dlogits && std::memcmp(&got.statistics, &want.statistics, sizeof got.statistics) == 0;
  for (int k = 0; k < 5; k++) same = same && same_bits(got.tokens[k], want.tokens[k]);
  for (int k = 0; k < 2; k++) same = same && same_bits(got.plain[k], want.plain[k]);
  require(shape, same, what, 0, 1);
}

float entry(const std::vector<char> &matrix, int32_t type, int64_t index) {
  return with_type(type, [&]<typename T>(T *) { return to_float(reinterpret_cast<const T *>(matrix.data())[index]); });
}

/* Relative to the greatest of the row; half an ulp of 8 or 11 bits where the gradient is that narrow. */
double gradient_tolerance(int32_t type) { return type == DART_F32 ? 2e-5 : type == DART_BF16 ? 0.0079 : 0.001; }

/*
 * What f32 sums of exponentials leave uncertain in a row's gradient: 1 ulp of 1 - p, times dL/dlogp, which is the
 * target's entry over 1 - p. Much where p is almost 1.
 */
double rounding(const Shape &shape, const Result &of, int64_t row) {
  const double own = entry(of.dlogits, shape.args.dlogits_type, row * shape.args.vocabulary + std::max(0, shape.target[row]));
  return 1e-7 + 3e-7 * std::fabs(own / std::expm1(std::fmin(of.tokens[0][row], -1e-7f)));
}

void require_close(const Shape &shape, const char *what, float got, float want, double tolerance) {
  const bool close = std::isfinite(want) ? std::fabs(got - want) <= tolerance : !std::isfinite(got);
  require(shape, close, what, got, want);
}

void compare_with_scalar(const Shape &shape, const Result &got, const Result &want) {
  static const char *names[] = {"logp", "entropy", "ratio", "weight", "token_loss"};
  const int64_t V = shape.args.vocabulary;
  for (int64_t row = 0; row < shape.args.rows; row++) {
    for (int k = 0; k < 5; k++)
      require_close(shape, names[k], got.tokens[k][row], want.tokens[k][row], 2e-5 * std::max(1.0f, std::fabs(want.tokens[k][row])));
    if (!std::isfinite(want.tokens[4][row])) continue; /* its gradient is not to be used */
    double most = 0;
    for (int64_t j = 0; j < V; j++) most = std::max(most, std::fabs(static_cast<double>(entry(want.dlogits, shape.args.dlogits_type, row * V + j))));
    for (int64_t j = 0; j < V; j++)
      require_close(shape, "dlogits", entry(got.dlogits, shape.args.dlogits_type, row * V + j), entry(want.dlogits, shape.args.dlogits_type, row * V + j),
                    gradient_tolerance(shape.args.dlogits_type) * most + rounding(shape, want, row));
  }
  require(shape, got.statistics.nonfinite == want.statistics.nonfinite, "nonfinite", got.statistics.nonfinite, want.statistics.nonfinite);
  require(shape, got.statistics.ignored == want.statistics.ignored, "ignored", got.statistics.ignored, want.statistics.ignored);
  require(shape, got.statistics.excluded == want.statistics.excluded, "excluded", got.statistics.excluded, want.statistics.excluded);
}

/* What holds whatever the instructions. */
void check_properties(const Shape &shape, const Result &got) {
  const int64_t V = shape.args.vocabulary;
  for (int64_t row = 0; row < shape.args.rows; row++) {
    const bool scored = shape.scored(row), finite = std::isfinite(got.tokens[4][row]);
    double sum = 0, most = 0;
    for (int64_t j = 0; j < V; j++) {
      const float slope = entry(got.dlogits, shape.args.dlogits_type, row * V + j);
      const bool zero = bits_of(slope) == 0;
      if (!scored) require(shape, zero, "dlogits of a row without loss", slope, 0);
      if (scored && finite && shape.logit(row, j) == -INFINITY) require(shape, zero, "dlogits of an excluded entry", slope, 0);
      sum += slope;
      most = std::max(most, std::fabs(static_cast<double>(slope)));
    }
    if (scored && shape.broken(row)) require(shape, !finite, "token_loss of a row with NaN or +inf", got.tokens[4][row], NAN);
    if (scored) require(shape, bits_of(got.tokens[0][row]) == bits_of(got.plain[0][row]) || !finite, "logp twice", got.tokens[0][row], got.plain[0][row]);
    if (!scored || !finite || shape.args.dlogits_type != DART_F32 || shape.args.entropy_coefficient != 0) continue;
    require(shape, std::fabs(sum) <= 2e-5 * most + rounding(shape, got, row), "sum of a row of dlogits", sum, 0);
  }
  const double rows = got.statistics.tokens + got.statistics.ignored + got.statistics.excluded;
  require(shape, rows == shape.args.rows, "tokens + ignored + excluded", rows, shape.args.rows);
}

void check_policy(const Shape &shape, const std::vector<const char *> &names) {
  Result scalar, vector;
  for (const char *name : names) {
    succeed(dart_set_instructions(name));
    succeed(dart_set_threads(1));
    const Result once = run(shape, false);
    check_properties(shape, once);
    for (const int threads : {2, 3}) {
      succeed(dart_set_threads(threads));
      require_same(shape, run(shape, false), once, threads == 2 ? "the bytes of 2 threads" : "the bytes of 3 threads");
    }
    if (shape.can_be_in_place()) require_same(shape, run(shape, true), once, "the bytes in place");
    if (name == names.front()) scalar = once;
    else compare_with_scalar(shape, once, scalar);
    if (name == names[std::min<size_t>(1, names.size() - 1)]) vector = once;
    if (name != names.front()) require_same(shape, once, vector, "the bytes of other vector instructions");
  }
}

/* Sum, count and weights after one step, on 1 and on 3 threads. */
void check_optimizer(const Shape &shape, const std::vector<const char *> &names) {
  const Weights start(shape.number);
  Weights scalar = start;
  for (const char *name : names) {
    succeed(dart_set_instructions(name));
    succeed(dart_set_threads(1));
    Weights once = start, again = start;
    once.step();
    succeed(dart_set_threads(3));
    again.step();
    require(shape, once.same_as(again), "the bytes of adamw on 3 threads", 0, 1);
    if (name == names.front()) scalar = once;
    const double apart = once.apart(scalar);
    require(shape, apart < (start.args.parameter_type == DART_BF16 ? 0.008 : 1e-6), "adamw beside the scalar one", apart, 0);
  }
}

}  // namespace
}  // namespace dart

int main() {
  std::vector<const char *> names = {"scalar"};
  for (const char *name : {"avx2", "avx512", "neon"})
    if (dart_set_instructions(name) == DART_OK) names.push_back(name);
  for (int number = 0; number < 1000; number++) {
    const dart::Shape shape(number);
    dart::check_policy(shape, names);
    if (number % 10 == 0) dart::check_optimizer(shape, names);
  }
  dart::check_policy(dart::Shape::large(), {names.front(), names.back()});
  std::printf("1000 shapes, %zu sets of instructions: no difference\n", names.size());
  return 0;
}
