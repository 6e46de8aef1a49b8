/* Log-probability and entropy alone. */
#include <algorithm>
#include <cmath>

#include "checks.h"
#include "policy_reference.h"
#include "policy_run.h"

namespace check {
namespace {

struct RowsCase {
  int64_t rows, vocabulary, gap, shift;
  int32_t type;
  double temperature;
};

/* Every third row is of some special kind. */
void fill(std::vector<double> &logits, std::vector<int32_t> &target, const RowsCase &one, Random &random) {
  for (double &x : logits) x = stored(3 * random.normal(), one.type);
  for (int64_t t = 0; t < one.rows; t++) {
    double *row = logits.data() + t * one.vocabulary;
    target.push_back(t % 5 == 4 ? -1 : static_cast<int32_t>(random.integer(0, one.vocabulary - 1)));
    if (t % 9 == 1 && target[t] >= 0) row[target[t]] = -INFINITY;
    if (t % 9 == 3) row[random.integer(0, one.vocabulary - 1)] = NAN;
    if (t % 9 == 5) row[random.integer(0, one.vocabulary - 1)] = INFINITY;
    if (t % 9 == 6) std::fill(row, row + one.vocabulary, NAN);
    if (t % 9 == 7) std::fill(row, row + one.vocabulary, -INFINITY);
    if (t % 9 == 8)
      for (int64_t j = 0; j < one.vocabulary; j++)
        if (j != target[t] && random.chance(0.3)) row[j] = -INFINITY;
  }
}

bool useless(const double *row, int64_t vocabulary) {
  return std::any_of(row, row + vocabulary, [](double x) { return std::isnan(x) || x == INFINITY; });
}

Case check_rows(const Library &library, const RowsCase &one, Random &random) {
  std::vector<double> logits(one.rows * one.vocabulary);
  std::vector<int32_t> targets;
  fill(logits, targets, one, random);
  const int64_t stride = one.vocabulary + one.gap;
  const std::vector<unsigned char> bytes = matrix_bytes(logits, one.vocabulary, stride, one.type);
  Array<unsigned char> matrix(library, bytes, one.shift * bytes_of(one.type));
  Array<int32_t> target(library, targets);
  Array<float> logp(library, one.rows), entropy(library, one.rows);
  dart_logp_entropy_args args{};
  args.rows = one.rows, args.vocabulary = one.vocabulary, args.logits = matrix.get(), args.logits_stride = stride, args.logits_type = one.type;
  args.target = target.get(), args.temperature = one.temperature, args.logp = logp.get(), args.entropy = entropy.get();
  require(library, library.dart_logp_entropy(&args), "dart_logp_entropy");
  require(library, library.dart_device_synchronize(), "dart_device_synchronize");

  Case row("logp_entropy", "N " + std::to_string(one.rows) + ", V " + std::to_string(one.vocabulary) + ", " + name_of(one.type) + (one.gap ? ", stride" : "") +
                               (one.shift ? ", unaligned" : "") + (one.temperature == 1 ? "" : ", temperature"));
  const std::vector<float> own_logp = logp.read(), own_entropy = entropy.read();
  const double tolerance = (1e-5 + 0x1p-22 * 20) * std::max(1.0, std::log(static_cast<double>(one.vocabulary)));
  for (int64_t t = 0; t < one.rows; t++) {
    const double *numbers = logits.data() + t * one.vocabulary;
    if (useless(numbers, one.vocabulary)) {
      row.holds("entropy of a NaN or inf row", std::isnan(own_entropy[t]));
      continue;
    }
    const RowTerms want = row_terms(numbers, one.vocabulary, targets[t], one.temperature);
    row.number("entropy", own_entropy[t], want.entropy, tolerance);
    if (targets[t] < 0 || std::isinf(want.logp)) row.exact("logp without a target", own_logp[t], want.logp);
    else row.number("logp", own_logp[t], want.logp, tolerance);
  }
  row.holds("the logits", matrix.read() == bytes);
  row.holds("memory beside the outputs", logp.guarded() && entropy.guarded() && matrix.guarded());
  return row;
}

}  // namespace

void check_logp_entropy(const Library &library, const Settings &settings, Report &report) {
  Random random(settings.seed + 1);
  for (const int32_t type : {DART_F32, DART_BF16, DART_F16}) {
    for (const int64_t vocabulary : {1, 2, 29, 64, 513, 1031, 4100}) report.add(check_rows(library, {19, vocabulary, 0, 0, type, 1}, random));
    report.add(check_rows(library, {19, 131, 5, 1, type, 0.7}, random));
    if (settings.quick) continue;
    for (const int64_t vocabulary : {32000, 151936, 152064}) report.add(check_rows(library, {19, vocabulary, 0, 0, type, 1}, random));
  }
}

}  // namespace check
