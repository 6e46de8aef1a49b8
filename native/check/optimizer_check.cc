/* AdamW over several steps and the gradient norm, every type that the interface allows. */
#include <algorithm>
#include <cmath>

#include "checks.h"

namespace check {
namespace {

constexpr double kSingle = 0x1p-20; /* a few roundings of f32 */

std::vector<unsigned char> pack(const std::vector<double> &values, int32_t type) {
  std::vector<unsigned char> bytes(values.size() * bytes_of(type));
  for (size_t i = 0; i < values.size(); i++) put(bytes.data(), static_cast<int64_t>(i), values[i], type);
  return bytes;
}

std::vector<double> unpack(const std::vector<unsigned char> &bytes, int32_t type) {
  std::vector<double> values(bytes.size() / bytes_of(type));
  for (size_t i = 0; i < values.size(); i++) values[i] = fetch(bytes.data(), static_cast<int64_t>(i), type);
  return values;
}

struct AdamwCase {
  int64_t size;
  int32_t parameter_type, gradient_type;
  bool master, clipped;
  int64_t shift;
};

constexpr double kRate = 1e-2, kBeta1 = 0.9, kBeta2 = 0.99, kEpsilon = 1e-8, kDecay = 0.1, kScale = 0.5;

/* p, m, v of one parameter, and how large its moments have been: what their roundings were of. */
struct Weight {
  double p, m, v, most_m, most_v;
};

Weight updated(Weight w, double gradient, int64_t step) {
  const double t = static_cast<double>(step);
  w.m = kBeta1 * w.m + (1 - kBeta1) * gradient;
  w.v = kBeta2 * w.v + (1 - kBeta2) * gradient * gradient;
  w.most_m = std::max(w.most_m, std::fabs(w.m)), w.most_v = std::max(w.most_v, w.v);
  const double m = w.m / (1 - std::pow(kBeta1, t)), v = w.v / (1 - std::pow(kBeta2, t));
  w.p = w.p * (1 - kRate * kDecay) - kRate * m / (std::sqrt(v) + kEpsilon);
  return w;
}

/* Everything of one optimiser in the library's memory. */
struct Optimizer {
  Optimizer(const Library &library, const AdamwCase &one, const std::vector<double> &start)
      : parameter(library, pack(start, one.parameter_type), one.shift * bytes_of(one.parameter_type)),
        gradient(library, one.size * bytes_of(one.gradient_type), one.shift * bytes_of(one.gradient_type)),
        first(library, std::vector<float>(one.size, 0)),
        second(library, std::vector<float>(one.size, 0)),
        master(library, std::vector<float>(start.begin(), start.end())),
        sum_of_squares(library, 1),
        nonfinite(library, 1),
        workspace(library, library.dart_gradient_norm_workspace(one.size)) {}

  Array<unsigned char> parameter, gradient;
  Array<float> first, second, master;
  Array<double> sum_of_squares, nonfinite;
  Array<unsigned char> workspace;

  bool guarded() const { return parameter.guarded() && first.guarded() && second.guarded() && master.guarded() && gradient.guarded() && workspace.guarded(); }

  void norm(const Library &library, const AdamwCase &one) {
    sum_of_squares.write({0});
    nonfinite.write({0});
    dart_gradient_norm_args args{};
    args.size = one.size, args.gradient = gradient.get(), args.gradient_type = one.gradient_type;
    args.sum_of_squares = sum_of_squares.get(), args.nonfinite = nonfinite.get(), args.workspace = workspace.get();
    require(library, library.dart_gradient_norm(&args), "dart_gradient_norm");
  }

  void step(const Library &library, const AdamwCase &one, int64_t number, double max_grad_norm) {
    dart_adamw_args args{};
    args.size = one.size, args.parameter = parameter.get(), args.parameter_type = one.parameter_type;
    args.gradient = gradient.get(), args.gradient_type = one.gradient_type;
    args.first_moment = first.get(), args.second_moment = second.get(), args.master = one.master ? master.get() : nullptr;
    args.step = number, args.learning_rate = kRate, args.beta1 = kBeta1, args.beta2 = kBeta2, args.epsilon = kEpsilon, args.weight_decay = kDecay;
    args.gradient_scale = kScale, args.max_grad_norm = max_grad_norm;
    if (one.clipped) args.sum_of_squares = sum_of_squares.get(), args.nonfinite = nonfinite.get();
    require(library, library.dart_adamw(&args), "dart_adamw");
    require(library, library.dart_device_synchronize(), "dart_device_synchronize");
  }
};

/* A bf16 weight is right when it is the rounding of a number within f32 arithmetic of the wanted one. */
void compare_weight(Case &row, double got, double want, const AdamwCase &one) {
  const double tolerance = kSingle * std::max(1.0, std::fabs(want));
  if (one.parameter_type == DART_F32) return row.number("parameter", got, want, tolerance);
  row.holds("bf16 parameter", got >= stored(want - tolerance, DART_BF16) && got <= stored(want + tolerance, DART_BF16));
}

void compare_step(Case &row, const AdamwCase &one, const Optimizer &own, std::vector<Weight> &want) {
  const std::vector<double> parameter = unpack(own.parameter.read(), one.parameter_type);
  const std::vector<float> first = own.first.read(), second = own.second.read(), master = own.master.read();
  double m = 0, v = 0;
  for (const Weight &w : want) m = std::max(m, w.most_m), v = std::max(v, w.most_v);
  for (int64_t i = 0; i < one.size; i++) {
    compare_weight(row, parameter[i], want[i].p, one);
    row.number("first moment", first[i], want[i].m, kSingle * m);
    row.number("second moment", second[i], want[i].v, kSingle * v);
    if (one.master) row.number("master", master[i], want[i].p, kSingle * std::max(1.0, std::fabs(want[i].p)));
    if (one.master) row.exact("parameter beside its master", parameter[i], stored(master[i], DART_BF16));
    if (one.parameter_type == DART_BF16 && !one.master) want[i].p = parameter[i]; /* what was rounded off is lost */
  }
}

std::string describe(const AdamwCase &one) {
  return "P " + std::to_string(one.size) + ", " + name_of(one.parameter_type) + (one.master ? " + master" : "") + ", gradient " + name_of(one.gradient_type) +
         (one.clipped ? ", clipped" : "") + (one.shift ? ", unaligned" : "");
}

Case check_adamw(const Library &library, const AdamwCase &one, Random &random) {
  std::vector<double> start(one.size), gradient(one.size);
  for (double &x : start) x = stored(random.normal(), one.parameter_type);
  Optimizer own(library, one, start);
  std::vector<Weight> want;
  for (const double x : start) want.push_back({x, 0, 0, 0, 0});
  Case row("adamw", describe(one));
  for (int64_t step = 1; step <= 5; step++) {
    double sum = 0;
    for (double &x : gradient) x = stored((step % 2 ? 0.01 : 4) * random.normal(), one.gradient_type), sum += x * x;
    own.gradient.write(pack(gradient, one.gradient_type));
    own.norm(library, one);
    row.number("sum of squares", own.sum_of_squares.read()[0], sum, kSingle * sum);
    const double limit = step == 3 ? INFINITY : 1;
    own.step(library, one, step, limit);
    const double factor = kScale * (one.clipped ? std::min(1.0, limit / (std::sqrt(sum) + 1e-6)) : 1);
    for (int64_t i = 0; i < one.size; i++) want[i] = updated(want[i], factor * gradient[i], step);
    compare_step(row, one, own, want);
  }
  if (one.clipped && one.size > 0) { /* one bad entry: nothing may change */
    gradient[one.size / 2] = NAN;
    own.gradient.write(pack(gradient, one.gradient_type));
    own.norm(library, one);
    row.exact("nonfinite", own.nonfinite.read()[0], 1);
    const auto parameter = own.parameter.read();
    const auto first = own.first.read(), second = own.second.read(), master = own.master.read();
    own.step(library, one, 6, 1);
    row.holds("a step on NaN", own.parameter.read() == parameter && own.first.read() == first && own.second.read() == second && own.master.read() == master);
  }
  row.holds("memory beside the outputs", own.guarded());
  return row;
}

/* The sum is added to what is there, bad entries are counted, and squares beyond f32 do not overflow. */
Case check_norm(const Library &library, int64_t size, int32_t type, Random &random) {
  std::vector<double> gradient(size);
  double sum = 0;
  for (double &x : gradient) x = stored((type == DART_F16 ? 1e4 : 1e24) * random.normal(), type), sum += x * x;
  Array<unsigned char> bytes(library, pack(gradient, type));
  Array<double> total(library, std::vector<double>{sum}), nonfinite(library, std::vector<double>{2});
  Array<unsigned char> workspace(library, library.dart_gradient_norm_workspace(size));
  dart_gradient_norm_args args{};
  args.size = size, args.gradient = bytes.get(), args.gradient_type = type;
  args.sum_of_squares = total.get(), args.nonfinite = nonfinite.get(), args.workspace = workspace.get();
  require(library, library.dart_gradient_norm(&args), "dart_gradient_norm");
  Case row("gradient_norm", "P " + std::to_string(size) + ", " + name_of(type));
  row.number("sum of squares", total.read()[0], 2 * sum, kSingle * sum);
  row.exact("nonfinite", nonfinite.read()[0], 2);
  double bad = 0;
  for (int64_t i = 0; i < size; i += 7, bad++) gradient[i] = i % 2 ? NAN : INFINITY;
  bytes.write(pack(gradient, type));
  require(library, library.dart_gradient_norm(&args), "dart_gradient_norm");
  row.exact("nonfinite", nonfinite.read()[0], 2 + bad);
  row.holds("memory beside the outputs", workspace.guarded() && total.guarded() && nonfinite.guarded());
  return row;
}

}  // namespace

void check_optimizer(const Library &library, const Settings &settings, Report &report) {
  Random random(settings.seed + 3);
  const int64_t large = settings.quick ? 5003 : 1000003;
  for (const int32_t gradient : {DART_F32, DART_BF16, DART_F16}) {
    for (const int64_t size : {int64_t{1}, int64_t{17}, int64_t{1031}, large}) {
      report.add(check_adamw(library, {size, DART_F32, gradient, false, true, 0}, random));
      report.add(check_adamw(library, {size, DART_BF16, gradient, false, size != 17, 0}, random));
      report.add(check_adamw(library, {size, DART_BF16, gradient, true, true, size == 1031}, random));
    }
    report.add(check_adamw(library, {517, DART_F32, gradient, false, false, 1}, random));
    for (const int64_t size : {int64_t{1}, int64_t{255}, large + 4}) report.add(check_norm(library, size, gradient, random));
  }
}

}  // namespace check
