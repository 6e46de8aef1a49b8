/* Step entropy and the choice of high-entropy steps within each group (design §9). */
#include <algorithm>
#include <cmath>
#include <vector>

#include "../quantile.h"
#include "../validate.h"
#include "error.h"

extern "C" int dart_step_entropy(const dart_step_entropy_args *args) {
  for (int64_t step = 0; step < args->steps; step++) {
    double sum = 0, count = 0;
    for (int64_t token = args->step_offsets[step]; token < args->step_offsets[step + 1]; token++) {
      if (args->mask != nullptr && args->mask[token] == 0) continue;
      sum += args->token_entropy[token];
      count += 1;
    }
    args->step_entropy[step] = count > 0 ? sum / count : NAN;
  }
  return DART_OK;
}

extern "C" int dart_select_steps(const dart_select_steps_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  std::vector<std::vector<double>> members(args->groups);
  for (int64_t step = 0; step < args->steps; step++) {
    const double entropy = args->step_entropy[step];
    if (!std::isnan(entropy)) members[args->step_group[step]].push_back(entropy);
  }
  for (int64_t group = 0; group < args->groups; group++) {
    std::vector<double> &sorted = members[group];
    std::sort(sorted.begin(), sorted.end());
    const dart::QuantilePlace place = dart::quantile_place(sorted.size(), 1.0 - args->keep);
    args->threshold[group] = sorted.empty() ? NAN : dart::interpolate(sorted[place.below], sorted[place.above], place.fraction);
  }
  for (int64_t step = 0; step < args->steps; step++)
    args->selected[step] = args->step_entropy[step] >= args->threshold[args->step_group[step]] ? 1 : 0;
  return DART_OK;
}
