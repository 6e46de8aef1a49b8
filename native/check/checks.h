/* One function for each group of kernels; each adds its cases to the report. */
#ifndef DART_CHECK_CHECKS_H
#define DART_CHECK_CHECKS_H

#include "library.h"
#include "numbers.h"
#include "report.h"

namespace check {

struct Settings {
  uint64_t seed = 1;
  bool quick = false;
  int64_t every = 1; /* of the policy losses, only each so manieth */
};

void check_policy_loss(const Library &library, const Settings &settings, Report &report);
void check_logp_entropy(const Library &library, const Settings &settings, Report &report);
void check_steps(const Library &library, const Settings &settings, Report &report);
void check_optimizer(const Library &library, const Settings &settings, Report &report);
void check_preferences(const Library &library, const Settings &settings, Report &report);
/* Arguments that do not fit are refused in words, and nothing is written. */
void check_refusals(const Library &library, Report &report);

}  // namespace check

#endif
