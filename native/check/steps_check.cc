/* Step entropy, and the choice of steps at or above a quantile of their group. */
#include <algorithm>
#include <cmath>
#include <numeric>

#include "checks.h"

namespace check {
namespace {

Case check_step_entropy(const Library &library, int64_t steps, bool masked, Random &random) {
  std::vector<int32_t> offsets = {0};
  for (int64_t s = 0; s < steps; s++) offsets.push_back(offsets.back() + static_cast<int32_t>(random.chance(0.1) ? 0 : random.integer(1, s % 50 == 3 ? 700 : 9)));
  std::vector<float> entropies;
  std::vector<uint8_t> masks;
  for (int32_t t = 0; t < offsets.back(); t++) {
    masks.push_back(random.chance(0.3) ? 0 : 1);
    entropies.push_back(masked && masks.back() == 0 ? NAN : static_cast<float>(3 * random.uniform()));
  }
  Array<float> tokens(library, entropies);
  Array<uint8_t> mask(library, masks);
  Array<int32_t> place(library, offsets);
  Array<double> out(library, steps);
  const dart_step_entropy_args args = {steps, tokens.get(), masked ? mask.get() : nullptr, place.get(), out.get(), nullptr};
  require(library, library.dart_step_entropy(&args), "dart_step_entropy");
  require(library, library.dart_device_synchronize(), "dart_device_synchronize");
  Case row("step_entropy", "S " + std::to_string(steps) + (masked ? ", mask" : ", no mask"));
  const std::vector<double> got = out.read();
  for (int64_t s = 0; s < steps; s++) {
    double sum = 0, count = 0;
    for (int32_t t = offsets[s]; t < offsets[s + 1]; t++)
      if (!masked || masks[t] != 0) sum += entropies[t], count += 1;
    if (count > 0) row.number("step_entropy", got[s], sum / count, 0x1p-20 * 3);
    else row.holds("step without a token", std::isnan(got[s]));
  }
  row.holds("memory beside the outputs", out.guarded());
  return row;
}

struct Chosen {
  std::vector<double> threshold;
  std::vector<uint8_t> selected;
  bool guarded;
};

Chosen select_steps(const Library &library, const std::vector<double> &entropies, const std::vector<int32_t> &groups, int64_t count, double keep) {
  Array<double> entropy(library, entropies), threshold(library, count);
  Array<int32_t> group(library, groups);
  Array<uint8_t> selected(library, static_cast<int64_t>(entropies.size()));
  const dart_select_steps_args args = {selected.size(), count, entropy.get(), group.get(), keep, threshold.get(), selected.get(), nullptr};
  require(library, library.dart_select_steps(&args), "dart_select_steps");
  require(library, library.dart_device_synchronize(), "dart_device_synchronize");
  return {threshold.read(), selected.read(), threshold.guarded() && selected.guarded()};
}

/* Linear interpolation between order statistics, as numpy and torch define it. */
double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1), below = std::floor(place);
  const double a = values[static_cast<size_t>(below)], b = values[std::min(static_cast<size_t>(below) + 1, values.size() - 1)];
  return a + (b - a) * (place - below);
}

/* `levels` > 0 draws the entropies from so few values that ties with the threshold are many. */
Case check_selection(const Library &library, int64_t steps, int64_t groups, double keep, int levels, Random &random) {
  std::vector<double> entropies;
  std::vector<int32_t> group;
  for (int64_t s = 0; s < steps; s++) {
    const double x = levels > 0 ? 0.1 * static_cast<double>(random.integer(1, levels)) : 3 * random.uniform();
    entropies.push_back(random.chance(0.05) ? NAN : x);
    group.push_back(static_cast<int32_t>(random.integer(0, std::max<int64_t>(0, groups - 2)))); /* the last group stays empty */
  }
  const Chosen got = select_steps(library, entropies, group, groups, keep);
  Case row("select_steps", "S " + std::to_string(steps) + ", groups " + std::to_string(groups) + ", keep " + std::to_string(keep).substr(0, 4) + (levels ? ", ties" : ""));
  for (int64_t k = 0; k < groups; k++) {
    std::vector<double> members;
    for (int64_t s = 0; s < steps; s++)
      if (group[s] == k && !std::isnan(entropies[s])) members.push_back(entropies[s]);
    if (members.empty()) {
      row.holds("threshold of an empty group", std::isnan(got.threshold[k]));
      continue;
    }
    const double threshold = quantile(members, 1 - keep);
    row.number("threshold", got.threshold[k], threshold, 1e-12);
    for (int64_t s = 0; s < steps; s++)
      if (group[s] == k) row.exact("selected", got.selected[s], entropies[s] >= threshold - 1e-12 ? 1 : 0);
  }
  for (int64_t s = 0; s < steps; s++)
    if (std::isnan(entropies[s])) row.exact("selected without entropy", got.selected[s], 0);
  row.holds("memory beside the outputs", got.guarded);

  std::vector<int64_t> order(steps);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t s = steps - 1; s > 0; s--) std::swap(order[s], order[random.integer(0, s)]);
  std::vector<double> shuffled;
  std::vector<int32_t> shuffled_group;
  for (const int64_t s : order) shuffled.push_back(entropies[s]), shuffled_group.push_back(group[s]);
  const Chosen again = select_steps(library, shuffled, shuffled_group, groups, keep);
  for (int64_t s = 0; s < steps; s++) row.exact("another order", again.selected[s], got.selected[order[s]]);
  return row;
}

}  // namespace

void check_steps(const Library &library, const Settings &settings, Report &report) {
  Random random(settings.seed + 2);
  for (const int64_t steps : {1, 7, 257, 1000}) {
    report.add(check_step_entropy(library, steps, true, random));
    report.add(check_step_entropy(library, steps, false, random));
  }
  for (const double keep : {0.0, 0.2, 0.5, 0.8, 1.0}) report.add(check_selection(library, 101, 9, keep, 0, random));
  for (const int64_t steps : {1, 2, 400}) report.add(check_selection(library, steps, 5, 0.8, 3, random));
  report.add(check_selection(library, settings.quick ? 3000 : 20000, 40, 0.8, 0, random));
  report.add(check_selection(library, 700, 2, 0.8, 0, random)); /* one long group */
}

}  // namespace check
