/* Preference losses on summed log-probabilities, in double. */
#include <algorithm>
#include <cmath>

#include "checks.h"

namespace check {
namespace {

constexpr double kDouble = 1e-12;

std::vector<double> scores(int64_t size, double spread, Random &random) {
  std::vector<double> values(size);
  for (double &x : values) x = -spread * random.uniform();
  return values;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/* -ln sigmoid(x); exact for far x too. */
double minus_log_sigmoid(double x) { return x > 0 ? std::log1p(std::exp(-x)) : std::log1p(std::exp(x)) - x; }

Case check_dpo(const Library &library, int64_t pairs, double beta, double spread, Random &random) {
  const auto pc = scores(pairs, spread, random), pr = scores(pairs, spread, random), rc = scores(pairs, spread, random), rr = scores(pairs, spread, random);
  Array<double> a(library, pc), b(library, pr), c(library, rc), d(library, rr), loss(library, 1), chosen(library, pairs), rejected(library, pairs);
  const dart_dpo_args args = {pairs, a.get(), b.get(), c.get(), d.get(), beta, loss.get(), chosen.get(), rejected.get(), nullptr};
  require(library, library.dart_dpo(&args), "dart_dpo");
  require(library, library.dart_device_synchronize(), "dart_device_synchronize");
  Case row("dpo", "B " + std::to_string(pairs) + ", beta " + std::to_string(beta).substr(0, 4) + ", spread " + std::to_string(static_cast<int>(spread)));
  const auto up = chosen.read(), down = rejected.read();
  double want = 0;
  for (int64_t i = 0; i < pairs; i++) {
    const double x = beta * ((pc[i] - rc[i]) - (pr[i] - rr[i])), slope = -beta * sigmoid(-x) / static_cast<double>(pairs);
    want += minus_log_sigmoid(x) / static_cast<double>(pairs);
    row.number("d_policy_chosen", up[i], slope, kDouble);
    row.number("d_policy_rejected", down[i], -slope, kDouble);
  }
  row.number("loss", loss.read()[0], want, kDouble * std::max(1.0, want));
  row.holds("memory beside the outputs", loss.guarded() && chosen.guarded() && rejected.guarded());
  return row;
}

Case check_kto(const Library &library, int64_t sequences, double beta, double spread, Random &random) {
  const auto policy = scores(sequences, spread, random), ref = scores(sequences, spread, random);
  std::vector<uint8_t> labels;
  for (int64_t i = 0; i < sequences; i++) labels.push_back(random.chance(0.5) ? 1 : 0);
  const double z = 0.05, good = 1, bad = 1.33;
  Array<double> a(library, policy), b(library, ref), loss(library, 1), slopes(library, sequences);
  Array<uint8_t> desirable(library, labels);
  const dart_kto_args args = {sequences, a.get(), b.get(), desirable.get(), beta, z, good, bad, loss.get(), slopes.get(), nullptr};
  require(library, library.dart_kto(&args), "dart_kto");
  require(library, library.dart_device_synchronize(), "dart_device_synchronize");
  Case row("kto", "B " + std::to_string(sequences) + ", beta " + std::to_string(beta).substr(0, 4) + ", spread " + std::to_string(static_cast<int>(spread)));
  const auto got = slopes.read();
  double want = 0;
  for (int64_t i = 0; i < sequences; i++) {
    const double x = policy[i] - ref[i], sign = labels[i] ? 1 : -1, w = labels[i] ? good : bad, s = sigmoid(sign * beta * (x - z));
    want += w * (1 - s) / static_cast<double>(sequences);
    row.number("d_policy", got[i], -sign * w * beta * s * (1 - s) / static_cast<double>(sequences), kDouble);
  }
  row.number("loss", loss.read()[0], want, kDouble * std::max(1.0, want));
  row.holds("memory beside the outputs", loss.guarded() && slopes.guarded());
  return row;
}

}  // namespace

void check_preferences(const Library &library, const Settings &settings, Report &report) {
  Random random(settings.seed + 4);
  for (const int64_t size : {1, 6, 257, 3001})
    for (const double beta : {0.1, 0.5}) {
      report.add(check_dpo(library, size, beta, 5, random));
      report.add(check_kto(library, size, beta, 5, random));
    }
  report.add(check_dpo(library, 33, 0.5, 4000, random)); /* sigmoid at both its ends */
  report.add(check_kto(library, 33, 0.5, 4000, random));
}

}  // namespace check
